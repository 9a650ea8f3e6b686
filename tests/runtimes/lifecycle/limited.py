"""Runtimes under the limits of their model's provider: they wait before a retry, and tell that the context fills up."""

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.provider_limits import Backoff, tokens

from ..right import Right
from .hosting import Hosting, Session

DECLARED = {"base": 2, "cap": 3}
"""A backoff that comes to its cap with the second retry."""


@breaks("retries-back-off", "BED-D1")
class WaitsTheSameEachTime(Right, retries=2, backoff=DECLARED):
    """It declares a backoff, and waits as long before the second retry as before the first."""

    def delay(self, attempt):
        return super().delay(1)


@breaks("retries-back-off", "BED-D1")
class ForgetsTheCap(Right, retries=2, backoff=DECLARED):
    """Its delays go on doubling."""

    def delay(self, attempt):
        return Backoff(base=2).delay(attempt)


@breaks("retries-back-off", "BED-006a")
class RetriesAtOnce(Right, retries=2, backoff=DECLARED):
    """The backoff is declared, and nobody waits: a provider that is busy is asked three times within a moment."""

    def retry(self):
        self.ask()


@breaks("retries-back-off", "BED-006a")
class RetriesAtTheNextTick(Right, retries=2, backoff=DECLARED):
    """The timer is set as declared; a clock that ticks every second calls it at its next tick."""

    def advance(self, seconds):
        super().advance(seconds if self.timer is None else max(seconds, self.timer))


@breaks("retries-back-off", "BED-006b")
class WaitsOnceMore(Right, retries=2, backoff=DECLARED):
    """When the retry is due it waits for as long again before it asks."""

    def advance(self, seconds):
        due, waited = self.timer is not None and self.timer <= seconds, getattr(self, "waited", False)
        self.waited = due and not waited
        if not self.waited:
            super().advance(seconds)


@breaks("retries-back-off", "BED-D1")
class BackoffNeverBeginsAnew(Right, retries=2, backoff=DECLARED):
    """Retries of earlier requests count: the first one of a later request waits as long as its third."""

    def reset(self, *given):
        self.before = 0
        return super().reset(*given)

    def delay(self, attempt):
        self.before += 1
        return super().delay(self.before)


class Jittered(Right, retries=3, backoff={"base": 1, "jitter": 0.5}):
    """A conforming runtime whose delays differ by a share, so that not all retries come at once."""

    def delay(self, attempt):
        return super().delay(attempt) * (0.6, 1.4)[attempt % 2]


class Watching(Session):
    """A session that knows how much of the context its last response used."""

    used = 0


class Limited(Hosting):
    """A conforming runtime that tells when the context window fills up."""

    session_type = Watching

    def __init__(self, **given):
        super().__init__(**{"retries": 3, "backoff": {"base": 1}, "contextShare": 0.8, **given})
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "context-limit"))

    def tell(self, session, usage):
        super().tell(session, usage)
        used, session.used = session.used, tokens(usage) or 0
        window = self.options.limits.get("contextWindow")
        if window is not None and self.full(used, session.used, self.profile.policies["contextShare"] * window):
            session.events += self.notices()

    def full(self, before, now, limit):
        """Return whether the context's use has come to the limit."""
        return before < limit <= now

    def notices(self):
        return [{"type": "native", "name": "context-limit"}]


@breaks("context-limit-told", "BED-012b")
class NeverTellsTheLimit(Limited):
    """The context fills up, and the user is not told."""

    def full(self, *_):
        return False


@breaks("context-limit-told", "BED-D6")
class TellsTheLimitAgainAndAgain(Limited):
    """Each response beyond the limit tells it once more."""

    def full(self, _, now, limit):
        return now >= limit


@breaks("context-limit-told", "BED-D6")
class TellsTheLimitTwice(Limited):
    """Two listeners tell it."""

    def notices(self):
        return super().notices() * 2


@breaks("context-limit-told", "BED-D6")
class TellsTheLimitOnce(Limited):
    """It is told the first time; after a context that was emptied meanwhile, nobody is told that it fills up again."""

    def full(self, *given):
        told, self.told = getattr(self, "told", False), getattr(self, "told", False) or super().full(*given)
        return super().full(*given) and not told

    def reset(self, *given):
        self.told = False
        return super().reset(*given)


@breaks("context-limit-told", "BED-012b")
class AddsUpTheSession(Limited):
    """It adds up what all responses used, and each of them uses the whole context: the limit is told too early."""

    def tell(self, session, usage):
        session.sum = getattr(session, "sum", 0) + (tokens(usage) or 0)
        super().tell(session, {"inputTokens": session.sum, "outputTokens": 0})
