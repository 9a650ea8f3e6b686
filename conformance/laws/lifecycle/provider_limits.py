"""Laws on the limits of a model's provider: a retry waits as long as declared, and a full context is told."""

from typing import Final

from msgspec import convert

from turncheck.model.core.provider_limits import BACKOFF, NOTICE, SHARE, WINDOW, Backoff, tokens
from turncheck.model.core.stimuli import Advance, ModelFail, ModelStop, TimerAwaited, Together

from ...observe.runtime_trace import RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from ..runtime.ends import handled
from ..runtime.subject import run_law

_EXACT: Final = 1e-6
"""Seconds by which sums of the virtual clock may differ from a delay."""


@run_law(
    *("BED-006a", "BED-006b", "BED-D1"),
    evidence="a retry under a clock that waits",
    needs=("clock", "model-failure", "policy backoff"),
    since="0.2",
    overlapping="never",
)
def retries_back_off(trace: RuntimeTrace) -> Judgement:
    """A retry waits as long as declared, longer each time, and comes when that time has passed.

    The delays begin anew with the next request. They are looked at where the clock is ``manual``: an automatic one
    jumps over them.
    """
    if trace.options.clock != "manual":
        return
    backoff = convert(trace.policies[BACKOFF], Backoff)
    retry, left, counted = 0, None, True
    for step in trace.steps:
        asked = [request.at for request in trace.requests if step.first <= request.at < step.end]
        if isinstance(step.stimulus, Together):
            counted = False  # several things at once: how often was the request retried?
        if isinstance(step.stimulus, ModelFail) and step.took_place and step.summarises is None and counted:
            retry = 1 if handled(trace, step) else retry + 1
            least, most = backoff.bounds(retry)
            timers = [one.due for one in step.answer.awaiting if isinstance(one, TimerAwaited)]
            left = next((due for due in timers if least - _EXACT <= due <= most + _EXACT), None)
            if step.active and (asked or timers):
                yield WITNESS
                if asked or left is None:
                    at = asked[0] if asked else max(step.end - 1, 0)
                    told = _seconds(least, most), [0.0] if asked else timers
                    yield Finding(at, f"retry {retry} does not wait as long as declared", *told)
        elif left is not None and isinstance(step.stimulus, Advance) and step.took_place:
            left -= step.stimulus.seconds
            if bool(asked) != (left <= _EXACT):
                when = f"comes {left:g} s too early" if asked else f"is due since {-left:g} s, and does not come"
                at = asked[0] if asked else max(step.end - 1, 0)
                yield Finding(at, f"retry {retry} {when}")
        if asked or not step.active:
            left = None
        if isinstance(step.stimulus, ModelStop) or not step.active:
            retry, counted = 0, counted or not step.active


@run_law(
    *("BED-012b", "BED-D6"),
    evidence="a response that came to the declared share",
    needs=("usage", NOTICE, "policy contextShare"),
    since="0.2",
    overlapping="never",
)
def context_limit_told(trace: RuntimeTrace) -> Judgement:
    """The user is told once each time that the context's use comes to the declared share from below.

    It is told in the step of the response that comes to it.
    """
    window = trace.options.limits.get(WINDOW)
    if window is None:
        return
    limit = round(trace.policies[SHARE] * window, 6)
    used, spent = 0, _spent(trace)
    for place, step in enumerate(trace.steps):
        now = spent.get(place, used)
        expected = int(used < limit <= now)
        told = [at for at in range(step.first, step.end) if _notice(trace, at)]
        if expected:
            yield WITNESS
        if len(told) != expected:
            why = f"the context's use goes from {used} to {now} tokens of {window}: the user is not told once"
            if not expected:
                why = f"the user is told of the limit, and the context's use of {now} tokens has not just come to it"
            yield Finding(told[-1] if told else max(step.end - 1, 0), why, expected, len(told))
        used = now


def _spent(trace: RuntimeTrace) -> dict[int, int]:
    """The place of a step that ends a whole response → the tokens of the context that it tells."""
    places = {id(step): place for place, step in enumerate(trace.steps)}
    found: dict[int, int] = {}
    for response in trace.whole_responses():
        told = tokens(getattr(response.end and response.end.stimulus, "usage", None))
        if told is not None and response.end is not None:
            found[places[id(response.end)]] = told
    return found


def _notice(trace: RuntimeTrace, at: int) -> bool:
    return trace.log[at].get("type") == "native" and trace.log[at].get("name") == NOTICE


def _seconds(least: float, most: float) -> list[float]:
    return [least] if least == most else [least, most]
