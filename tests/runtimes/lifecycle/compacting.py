"""Runtimes that conform and compact their history, each in its way, and wrong ones with one fault each."""

import json

from breaking import breaks
from msgspec.json import encode
from msgspec.structs import replace

from turncheck.model.core.stimuli import Compact, ModelAwaited, ModelFail, ModelOutput, ModelStop, ResetOptions, Shown

from ..right import Right
from .hosting import Hosting, Session

DECLARED = {"compactionFails": "keep", "compactionRetries": 1}


def is_summary(shown):
    return (shown.text or "").startswith("[summary]")


class Compacting(Right, **DECLARED):
    """A summary takes the place of all that was said while no run is open; a message that comes amid it comes first."""

    def __init_subclass__(cls, **policies):
        super().__init_subclass__(**DECLARED | policies)

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "compaction"))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.summarising, self.gist, self.tries = None, "", 0
        return super().reset(options)

    def take(self, stimulus):
        match stimulus:
            case Compact():
                self.compact()
            case ModelOutput() | ModelStop() | ModelFail() if self.summarising is not None and stimulus.request_id in {
                None,
                self.summarising,
            }:
                self.summarise(stimulus)
            case _:
                super().take(stimulus)

    def awaiting(self):
        yield from super().awaiting()
        if self.summarising is not None:
            yield ModelAwaited(request_id=self.summarising, input=self.input, tools=False, purpose="compaction")

    def user(self, message):
        if not self.active:
            self.give_up()
        super().user(message)

    def abort(self):
        if not self.active:
            self.give_up()
        super().abort()

    # ---- the compaction ----

    def compact(self):
        if self.active or self.summarising is not None:
            self.refuse("rejected", "the agent is busy")
        elif self.history:
            self.tries = 0
            self.ask_for_a_summary()

    def ask_for_a_summary(self):
        self.tries += 1
        self.asked += 1
        self.gist, self.summarising, self.input = "", f"r{self.asked}", tuple(self.shown())
        self.log_request(purpose="compaction")

    def log_request(self, **fields):
        self.log("model-request", requestId=self.summarising, input=json.loads(encode(self.input)), **fields)

    def summarise(self, stimulus):
        match stimulus:
            case ModelOutput():
                self.gist += getattr(stimulus.item, "text", "")
            case ModelStop():
                self.summarising = None
                self.history[: self.prefix()] = self.instead()
                self.over()
            case ModelFail(failure=failure):
                self.summarising = None
                if self.tried_again(failure):
                    self.ask_for_a_summary()
                else:
                    self.without_a_summary()
                    self.over()

    def prefix(self):
        """How many entries a summary takes the place of."""
        return len(self.history)

    def instead(self):
        return [Shown(role="assistant", text=f"[summary] {self.gist}")]

    def tried_again(self, failure):
        return failure == "retryable" and self.tries <= self.policies["compactionRetries"]

    def without_a_summary(self):
        if self.policies["compactionFails"] == "drop-prefix":
            self.history[: self.prefix()] = []

    def give_up(self):
        self.summarising = None

    def over(self):
        """The compaction is over."""


class KeepsTheLastRun(Compacting):
    """What stands behind the last message, and it, are not compacted."""

    def prefix(self):
        users = [place for place, one in enumerate(self.history) if one.role == "user"]
        return users[-1] if users else len(self.history)


class KeepsSoMuchText(Compacting):
    """From the message on behind which thirty characters stand, all is kept; the rest is asked about as one text."""

    def prefix(self):
        users = [place for place, one in enumerate(self.history) if one.role == "user"]
        long = [place for place in users if sum(len(one.text or "") for one in self.history[place:]) >= 30]
        return long[-1] if long else len(self.history)

    def log_request(self, **fields):
        rest = " ".join(one.text or "" for one in self.history[: self.prefix()])
        self.input = (Shown(role="user", text=f"Sum up: {rest}"),)
        super().log_request(**fields)


class SummarisesAsTheUser(Compacting):
    """The summary is shown as a message."""

    def instead(self):
        return [Shown(role="user", text=f"Until now: <summary>{self.gist}</summary>")]


class SumsUpWhatIsNew(Compacting):
    """The model is asked about what stands behind the summary, and the next summary is written below it."""

    def log_request(self, **fields):
        self.input = tuple(one for one in self.input if not is_summary(one))
        super().log_request(**fields)

    def instead(self):
        earlier = [one.text for one in self.history if is_summary(one)]
        return [Shown(role="assistant", text="\n".join([*earlier, f"[summary] {self.gist}"]))]


class KeepsSummariesBesideTheNewOne(SumsUpWhatIsNew):
    """Summaries are summed up where nothing else is left, and stay beside the new one until then."""

    def ask_for_a_summary(self):
        self.all_are = all(map(is_summary, self.history))
        super().ask_for_a_summary()

    def log_request(self, **fields):
        (Compacting if self.all_are else SumsUpWhatIsNew).log_request(self, **fields)

    def instead(self):
        return (Compacting if self.all_are else SumsUpWhatIsNew).instead(self)


class LetsMessagesWait(Compacting):
    """A message that comes amid a compaction is accepted, and its run asks when that is over."""

    def reset(self, *options):
        self.root = None
        return super().reset(*options)

    def user(self, message):
        if self.active or self.summarising is None:
            super().user(message)
            return
        self.log("user-message", id=message.id, text=message.text, delivery=message.delivery)
        self.wait(message)

    def wait(self, message):
        self.root, self.active, self.aborting, self.amid, self.cut = message, True, False, False, False
        self.open = {}

    def over(self):
        if self.root is not None:
            root, self.root = self.root, None
            self.start(root)

    def abort(self):
        if self.root is not None:
            self.give_up()
            self.read(self.root)
            self.root = None
        super().abort()


class CompactsLongHistories(LetsMessagesWait, maxHistoryMessages=6):
    """A message that comes when the history is too long waits for a compaction."""

    def user(self, message):
        if not self.active and self.summarising is None and len(self.history) > self.policies["maxHistoryMessages"]:
            self.compact()
        super().user(message)


class CompactingSession(Session, Compacting):
    """One session of a host, which compacts its history."""


class CompactingHost(Hosting, **DECLARED):
    """Sessions that compact, and outlive the process: what is kept of one amid a compaction is the history before."""

    session_type = CompactingSession

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "compaction"))


# ---- wrong ones ----


@breaks("compacted-well-formed", "L-C1")
class KeepsAResultWithoutItsCall(Compacting):
    """The last three entries stay, whatever they are: a result among them has lost its call."""

    def prefix(self):
        return max(len(self.history) - 2, 0)


@breaks("compacted-well-formed", "L-C1")
class SummarisesResultsAlone(Compacting):
    """The results go into the summary, and their calls stay."""

    def instead(self):
        return [*super().instead(), *(one for one in self.history if one.role == "assistant" and one.call_id)]


@breaks("compaction-keeps-the-rest", "L-C2")
class ForgetsTheSummary(Compacting):
    """What was compacted is gone, and no summary stands in its place."""

    def instead(self):
        return []


@breaks("compaction-keeps-the-rest", "L-C2")
class CompactsTheMessageJustSent(LetsMessagesWait):
    """A message that came amid the compaction goes with what was compacted."""

    def wait(self, message):
        super().wait(message)
        self.gone = message

    def read(self, message):
        if message is not getattr(self, "gone", None):
            super().read(message)


@breaks("compaction-keeps-the-rest", "L-C2")
class KeepsTheLastRunBackwards(Compacting):
    """The messages that stay stand in another order."""

    def instead(self):
        return [*super().instead(), *reversed([one for one in self.history if one.role == "user"][-2:])]


@breaks("earlier-summary-kept", "L-C2")
class SumsUpTheNewAlone(Compacting):
    """A second compaction asks about what stands behind the first one's summary, which it throws away."""

    def log_request(self, **fields):
        self.input = tuple(one for one in self.input if not is_summary(one))
        super().log_request(**fields)


@breaks("failed-compaction-harmless", "L-C3")
class EndsTheRunThatWaits(LetsMessagesWait):
    """A run that waits for a compaction ends with it where that fails."""

    def over(self):
        if self.root is not None and self.failed:
            self.read(self.root)
            self.root = None
            self.stop("error", "the compaction failed")
        super().over()

    def summarise(self, stimulus):
        self.failed = isinstance(stimulus, ModelFail)
        super().summarise(stimulus)


@breaks("failed-compaction-harmless", "L-C3")
class TriesAgainForEver(Compacting):
    """A compaction that fails is tried again, and again."""

    def tried_again(self, failure):
        return failure == "retryable" and self.tries < 9


@breaks("failed-compaction-harmless", "L-C3")
class ForgetsAllWhereItFails(Compacting):
    """A compaction that fails leaves an empty history, and the runtime says that it keeps all."""

    def without_a_summary(self):
        self.history.clear()


@breaks("compaction-is-no-run", "L-C4")
class AsksUnmarked(Compacting):
    """The request for a summary is one like any other."""

    def log_request(self, **fields):
        super().log_request()

    def awaiting(self):
        yield from (replace(one, purpose=None) if isinstance(one, ModelAwaited) else one for one in super().awaiting())


@breaks("compaction-is-no-run", "L-C4")
class LogsItsPrompt(Compacting):
    """The prompt for the summary is logged as a message, and an end behind it."""

    def ask_for_a_summary(self):
        self.log("user-message", id=f"prompt {self.asked}", text="Sum up what was said.")
        super().ask_for_a_summary()

    def over(self):
        self.log("run-stop", reason="completed")

    def give_up(self):
        if self.summarising is not None:
            self.over()
        super().give_up()


@breaks("abort-amid-compaction", "L-C5")
class AbortLosesWhatWasCompacted(Compacting):
    """The history is emptied when the compaction begins, and an abort does not bring it back."""

    def abort(self):
        if self.summarising is not None:
            self.history.clear()
        super().abort()
