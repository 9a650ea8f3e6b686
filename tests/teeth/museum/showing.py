"""Check an exhibit against all laws, as ``verify`` does by default, and describe the findings briefly."""

from typing import Any

import msgspec

from turncheck.adapters.targets.registry import open_projector
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.outcome.results import AnyCounterexample, Counterexample, Result, WordCounterexample
from turncheck.conformance.verify.subjects.projector import EXAMPLES
from turncheck.conformance.verify.verification import verify_projector, verify_runtime

from .exhibit import exhibited, is_projector, mended, source
from .page import Found
from .plumbing import Driven
from .targets import attribute

HASH_SEED = 4321
PATIENCE = 30
"""Seconds for one answer of a projector."""
LONGEST = 8
"""Stimuli or events of a shrunk sequence, at most."""


def found(name: str, examples: int = EXAMPLES, *, up_to: str | None = None) -> Found:
    """Check an exhibit against all laws, or those up to *up_to*, with the same first finding; return the findings."""
    result, counterexamples = _verified(name, mend=False, examples=examples, up_to=up_to)
    broken = tuple(law.law for law in result.laws if law.verdict == "fail")
    return Found(broken, sequence(counterexamples[broken[0]]) if broken else ())


def objections(name: str, examples: int = EXAMPLES) -> dict[str, str]:
    """Return law → verdict for the mended variant, of the laws that neither pass nor are skipped."""
    result, _ = _verified(name, mend=True, examples=examples)
    return {law.law: f"{law.verdict}: {law.why}" for law in result.laws if law.verdict not in {"pass", "skipped"}}


def _verified(name: str, *, mend: bool, examples: int, up_to: str | None = None) -> tuple[Result, dict[str, Any]]:
    laws = selected(["projector" if is_projector(name) else "runtime"])
    laws = laws[: next((place for place, law in enumerate(laws, 1) if law.name == up_to), None)]
    if is_projector(name):
        with open_projector(f"python:{__package__}.targets:{attribute(name, mend=mend)}", timeout=PATIENCE) as target:
            return verify_projector(target, laws, examples=examples)
    runtime = exhibited(name, mended(name) if mend else source(name))
    return verify_runtime(Driven(runtime), laws, words=examples, hash_seed=HASH_SEED)


def sequence(counterexample: AnyCounterexample) -> tuple[str, ...]:
    """Return the stimuli of a word, or the events of a log, each in a word or two."""
    if isinstance(counterexample, Counterexample):
        return tuple(map(_event, counterexample.input.events))
    assert isinstance(counterexample, WordCounterexample)
    given = msgspec.to_builtins(counterexample.word)
    return tuple(map(_stimulus, given["stimuli"]))


def _stimulus(stimulus: dict[str, Any]) -> str:
    kind = str(stimulus["kind"])
    match kind:
        case "user":
            return _message(stimulus)
        case "model-output":
            return _item(stimulus["item"])
        case "model-fail":
            return f"failure ({stimulus['class']})"
        case "together":
            return " and ".join(map(_stimulus, stimulus["stimuli"])) + " at once"
        case _:
            return {"model-stop": "stop", "tool-return": "result", "tool-fail": "tool failure"}.get(kind, kind)


def _message(said: dict[str, Any]) -> str:
    return {"steer": "steer", "followUp": "follow-up"}.get(said.get("delivery", ""), "message")


def _item(item: dict[str, Any]) -> str:
    malformed = "malformed " if isinstance(item.get("arguments"), str) else ""
    return {"assistant": "text", "tool-call": f"{malformed}call"}.get(item["kind"], "reasoning")


def _event(event: Any) -> str:
    match event:
        case {"type": "user-message"}:
            return _message(event)
        case {"type": "agent-output", "kind": "tool-call"}:
            return f"call of {event.get('tool')}"
        case {"type": "agent-output"}:
            return "text"
        case {"type": "tool-result"}:
            return "result"
        case {"type": "run-stop"}:
            return str(event.get("reason"))
        case _:
            return "?"
