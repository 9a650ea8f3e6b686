"""What the protocol's validators complain of is found by ``check`` at the same line, but for what the docs explain."""

import random
from collections.abc import Callable, Iterator

import pytest
from ag_ui.peers import Complaint, Verifier, missed, ours, shortest, validate
from ag_ui.streams import Stream, broken, valid

STREAMS = 1_000
Peer = Callable[[Stream], list[Complaint]]


@pytest.fixture(scope="module", params=["verifyEvents", "ag-ui-validate"])
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    if request.param == "ag-ui-validate":
        yield validate
    else:
        with Verifier() as verify:
            yield verify


def test_no_generated_valid_stream_has_a_complaint_or_a_finding(peer: Peer) -> None:
    for seed in range(STREAMS // 4):
        stream = valid(random.Random(seed))
        assert (peer(stream), ours(stream)) == ([], []), (seed, stream)


def test_every_complaint_about_a_broken_stream_is_found_or_explained(peer: Peer) -> None:
    complaints = 0
    for seed in range(STREAMS):
        stream = broken(random.Random(seed))
        complaints += bool(peer(stream))
        if missed(stream, peer(stream)) is not None:
            short = shortest(stream, lambda shorter: missed(shorter, peer(shorter)) is not None)
            pytest.fail(f"seed {seed}: {missed(short, peer(short))} is not found in {short}")
    assert complaints > STREAMS // 3
