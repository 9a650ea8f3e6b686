"""Projectors that conform in different ways; each docstring says how, and names the clause that allows it."""

# mypy: disable-error-code="misc"
import time
from itertools import product
from types import SimpleNamespace
from typing import ClassVar

from projectors.plain import Plain


class OtherKeyOrder(Plain):
    """The keys of its objects have another order (PROTOCOL: JSON objects have none)."""

    def result(self):
        return turned(super().result())


def turned(value):
    """Return the same value with all keys in reverse order."""
    if isinstance(value, dict):
        return {key: turned(part) for key, part in reversed(value.items())}
    return [turned(part) for part in value] if isinstance(value, list) else value


class MoreFields(Plain):
    """Cycles, steps and the projection have additional fields (PROTOCOL: unknown fields are tolerated)."""

    def result(self):
        found = super().result()
        return {"sessionId": None, "version": 5, **found, "cycles": [more(cycle) for cycle in found["cycles"]]}


def more(value):
    """Return the same value, each object with unknown fields."""
    if isinstance(value, dict):
        return {"id": "x", **{key: more(part) for key, part in value.items()}, "reason_": "error"}
    return [more(part) for part in value] if isinstance(value, list) else value


class Recomputes(Plain):
    """It keeps the events, those that come again in the place of the first, and projects all when asked (X-2, L-N4)."""

    def reset(self):
        self.seen = []
        super().reset()

    def feed(self, events, start=None):
        self.seen[len(self.seen) if start is None else start :] = events

    def project(self, events, policies=None):
        if events:
            return super().project(events, policies)
        whole = Plain(self.policies)
        whole.feed(self.seen)
        return whole.result()


class EventByEvent(Plain):
    """It computes the projection after every event (X-2: fed one by one)."""

    def take(self, value):
        super().take(value)
        self.result()


class Tuples(Plain):
    """Its lists are tuples, which are the same in JSON (PROTOCOL)."""

    def result(self):
        return {key: tuple(value) for key, value in super().result().items()}


class ChangesItsOwnCopy(Plain):
    """It changes its own copies of the events, and not the given ones (RC-7.6)."""

    def take(self, value):
        super().take({**value, "seen": True} if isinstance(value, dict) else value)


class Slow(Plain):
    """It takes its time for each answer (PROTOCOL: within the timeout)."""

    def result(self):
        time.sleep(0.002)
        return super().result()


class Chatty(Plain):
    """It prints while it works (PROTOCOL: stdout is the protocol's, and the worker's to keep)."""

    def result(self):
        print('{"seq": 1, "ok": false}')
        return super().result()


def function(events, policies=None):
    """A function without memory (PROTOCOL: feed is a capability)."""
    return Plain(policies).project(events, policies) if events else Plain().result()


class WithoutFeed:
    """An object that cannot be fed."""

    def project(self, events, policies=None):
        return function(events, policies)


class OnlySteps(Plain):
    """It yields the steps only (PROTOCOL: without a view's capability, cycles leave its key out)."""

    profile: ClassVar = {"capabilities": ["policies", "feed", "steps"]}

    def shown(self, cycle):
        return {key: value for key, value in super().shown(cycle).items() if key != "rounds"}


class OnlyRounds(Plain):
    """It yields the rounds only (PROTOCOL: without a view's capability, cycles leave its key out)."""

    profile: ClassVar = {"capabilities": ["policies", "feed", "rounds"]}

    def shown(self, cycle):
        return {key: value for key, value in super().shown(cycle).items() if key != "steps"}


class Under(Plain):
    """It has its own policies, and takes no others (RC-D6)."""

    def __init__(self, policies):
        super().__init__(policies)
        self.profile = {"capabilities": ["feed", "steps", "rounds"], "policies": self.policies}

    def project(self, events):
        return Plain(self.policies).project(events, self.policies) if events else self.result()


FATES = ("promote", "hold", "drop")
UNDER = SimpleNamespace(
    **{
        f"{active}_{interrupted}_{error}": Under(
            {"whileActive": active, "queueAfterInterrupted": interrupted, "queueAfterError": error}
        )
        for active, interrupted, error in product(("followUp", "steer"), FATES, FATES)
    }
)
"""One projector for every choice of policies."""
