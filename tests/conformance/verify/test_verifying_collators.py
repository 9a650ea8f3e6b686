"""A collator is verified as a projector is: over the wire, by the laws on collations, with small flows of frames."""

import datetime as dt

import msgspec
import pytest
from breaking import doubles
from event_flow import wrong
from inprocess import InProcessCollator

from turncheck.adapters.protocol.errors import RubbishError, StartError
from turncheck.adapters.targets.registry import open_collator, open_projector
from turncheck.conformance.generation.flows import CLASSICS, Flow, Iteration, frames_of
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.smoke.collator import COLLATOR
from turncheck.conformance.smoke.stage import live
from turncheck.conformance.verify.kept.baseline import parse
from turncheck.conformance.verify.kept.replay import asked_collator
from turncheck.conformance.verify.kept.updating import updated
from turncheck.conformance.verify.outcome.counterexample_files import read, write
from turncheck.conformance.verify.verification import verify_collator
from turncheck.model.machines.blocks import Collator

ALL = selected(["collator"])
DOUBLES = dict(doubles(wrong))
RIGHT = "turncheck.adapters.references.collation:ReferenceCollator"


class ShowsNothing(Collator):
    """A UI that takes every frame and shows no block."""

    blocks = ()


class FailsAtResults(Collator):
    """A UI that raises at the result of a tool."""

    def feed(self, frame):
        if frame["type"] == "tool_call_result":
            raise KeyError("result")
        return super().feed(frame)


def verified(text, laws=ALL, examples=0):
    return verify_collator(InProcessCollator(text), laws, examples=examples)


def failing(result):
    return {law.law for law in result.laws if law.verdict == "fail"}


def verdicts(result):
    return {law.verdict for law in result.laws}


@pytest.fixture(scope="module")
def duplicates():
    return verified("event_flow.wrong:DuplicatesBlocks")


# ---- right and wrong ones ----


@pytest.mark.parametrize("double", sorted(DOUBLES.keys() - {"HashOrder"}))
def test_a_wrong_collator_breaks_the_laws_of_its_fault_over_the_wire(double):
    result, _ = verified(f"event_flow.wrong:{double}", [LAWS[law] for law in DOUBLES[double]])
    assert failing(result) == DOUBLES[double].keys()


def test_the_reference_keeps_every_law_with_evidence():
    result, _ = verified(RIGHT, examples=20)
    assert (verdicts(result), result.exit_code) == ({"pass"}, 0)


def test_a_collator_in_a_process_of_its_own_is_judged():
    with open_collator("python:event_flow.wrong:TakesTheFirstRecord", timeout=20.0) as target:
        result, _ = verify_collator(target, ALL, examples=0)
    assert "own-record" in failing(result)


def test_an_order_that_the_hash_seed_decides_is_seen_in_another_process():
    with open_collator("python:event_flow.wrong:HashOrder", timeout=20.0) as target:
        result, _ = verify_collator(target, ALL, examples=0)
    assert failing(result) == {"blocks-hash-seed"}


def test_a_collator_in_a_process_of_its_own_has_the_same_blocks_in_another():
    with open_collator(f"python:{RIGHT}", timeout=20.0) as target:
        result, _ = verify_collator(target, [LAWS["blocks-same-again"], LAWS["blocks-hash-seed"]], examples=0)
    assert verdicts(result) == {"pass"}


def test_a_collator_that_fails_on_frames_shows_no_block():
    result, found = verified("test_verifying_collators:FailsAtResults")
    assert "the collator failed on a flow of frames" in found["one-block-per-call"].message
    assert result.exit_code == 1


def test_a_collator_that_shows_nothing_misses_the_floor():
    result, _ = verified("test_verifying_collators:ShowsNothing")
    assert "a response is shown" in "".join(result.missed)


def test_the_same_seed_gives_the_same_bytes():
    one, other = (verified("event_flow.wrong:LateDeltasAppend", examples=20) for _ in range(2))
    assert msgspec.json.encode(one) == msgspec.json.encode(other)


# ---- counterexamples ----


def test_a_counterexample_is_a_small_flow(duplicates):
    found = duplicates[1]["one-block-per-call"]
    assert found.flow == Flow((Iteration((), 1), Iteration()), numbered=False)
    assert found.frames == frames_of(found.flow)


def test_a_counterexample_is_read_as_it_was_written(duplicates, tmp_path):
    found = duplicates[1]["one-block-per-call"]
    assert read(write(found, tmp_path)) == found


def test_a_counterexample_fails_again(duplicates):
    found = duplicates[1]["no-empty-twin"]
    assert asked_collator(found, InProcessCollator("event_flow.wrong:DuplicatesBlocks")) is not None
    assert asked_collator(found, InProcessCollator(RIGHT)) is None


def test_a_baseline_holds_flows(duplicates):
    result, found = duplicates
    baseline = parse(updated("", result, dt.date(2026, 1, 1), found), "here")
    assert baseline.cases["one-block-per-call"] == found["one-block-per-call"].flow


# ---- flows ----


@pytest.mark.parametrize("flow", CLASSICS)
def test_a_flow_without_a_piece_is_smaller_and_whole(flow):
    for place in range(flow.size):
        smaller = flow.without([place])
        assert smaller.size < flow.size
        assert frames_of(smaller)[-1]["type"] in {"llm_response", "message_complete"}


# ---- the wire ----


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([{"text": "ha"}], "missing required field `iteration`"),
        ([{"iteration": "1"}], r"\[0\].iteration"),
        ({"iteration": 1}, "Expected `array`"),
    ],
)
def test_blocks_that_are_none_are_the_targets_fault(monkeypatch, blocks, said):
    target = InProcessCollator(RIGHT)
    monkeypatch.setattr(target, "_collate", lambda _: blocks)
    with pytest.raises(RubbishError, match=said):
        target.collate(())


def test_a_field_that_is_left_out_is_empty(monkeypatch):
    target = InProcessCollator(RIGHT)
    monkeypatch.setattr(target, "_collate", lambda _: [{"iteration": 1, "colour": "grey"}])
    (block,) = target.collate(())
    assert (block.text, block.calls, block.usage) == ("", (), None)


def test_a_projector_is_no_collator():
    with pytest.raises(StartError, match="not a collator"):
        open_collator("reference", timeout=20.0)


def test_a_collator_is_no_projector():
    with pytest.raises(StartError, match="not a projector"):
        open_projector("reference:collation", timeout=20.0)


# ---- smoke ----


def test_the_references_life_is_ok():
    target = InProcessCollator(RIGHT)
    assert {one.verdict for one in live(COLLATOR, target, target.profile)} == {"pass"}


def test_a_wrong_collator_is_told_what_came_instead():
    target = InProcessCollator("event_flow.wrong:RepeatedDeltasAppend")
    outcomes = {one.step: one for one in live(COLLATOR, target, target.profile)}
    assert outcomes["collates a flow of frames"].verdict == "pass"
    assert "the blocks are not the model's" in outcomes["collates frames that come twice"].message
