"""A runtime that conforms and runs two messages of one session at once, and wrong ones with one fault each.

The first run is the session's own; a message that comes while it is open begins one beside it. Each run works on a
snapshot of what had ended when it began, and adds its own part to the session's history at its end.
"""

from breaking import breaks

from turncheck.model.core.stimuli import Abort, Advance, ResetOptions

from ..inner import Inner, Outer
from ..right import Right


class Beside(Inner):
    """A run beside the session's own: its history is a snapshot, its log is the session's."""

    def __init__(self, session, run):
        super().__init__(session)
        self.run_name = run
        self.history = session.snapshot()
        self.base = len(self.history)

    def log(self, kind, /, **fields):
        self.session.record(kind, self.run_name, **fields)

    def after(self, fate):
        self.session.merge(self)


class Concurrent(Outer, busy="concurrent"):
    """Runs of one session side by side, each with a name; what each said is merged into the history when it ends."""

    def __init_subclass__(cls, **policies):
        super().__init_subclass__(**{"busy": "concurrent"} | policies)

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.runs, self.ended, self.base = 1, [], 0
        self.run_name = "run1"
        return super().reset(options)

    def take(self, stimulus):
        super().take(stimulus)
        if isinstance(stimulus, Abort | Advance):
            for one in [*self.inner]:
                one.take(stimulus)

    def user(self, message):
        if self.active and message.delivery is None:
            self.begin_beside(message)
        else:
            super().user(message)

    def begin_beside(self, message):
        one = self.made(self.new_name())
        self.inner.append(one)
        one.user(message)

    def made(self, name):
        return Beside(self, name)

    def new_name(self):
        self.runs += 1
        return f"run{self.runs}"

    def start(self, root):
        self.base = len(self.history)
        super().start(root)

    def snapshot(self):
        """What runs that have ended left."""
        return [*(self.history[: self.base] if self.active else self.history), *self.ended]

    def merge(self, run):
        """A run beside has ended: its part is shown from the next run on."""
        self.inner.remove(run)
        (self.ended if self.active else self.history).extend(run.history[run.base :])

    def after(self, fate):
        self.history += self.ended
        self.ended, self.run_name = [], self.new_name()
        super().after(fate)

    def log(self, kind, /, **fields):
        self.record(kind, self.run_name, **fields)

    def record(self, kind, run, /, **fields):
        super().log(kind, **fields, runId=run)


class SeesWhatEndsBeside(Concurrent):
    """What ends beside a run is shown to it from its next request on, before its own message."""

    def merge(self, run):
        super().merge(run)
        if self.active:
            self.history[self.base : self.base] = self.ended
            self.base += len(self.ended)
            self.begun += len(self.ended)
            self.ended = []


# ---- wrong ones ----


@breaks("no-update-lost", "L-P4")
class LastWriterWins(Concurrent):
    """Each run writes its own history back at its end, and what another one wrote meanwhile is gone."""

    def merge(self, run):
        self.inner.remove(run)
        if not self.active:
            self.history = run.history


@breaks("no-update-lost", "L-P4")
class MergesTwice(Concurrent):
    """What ended beside a run is in the history twice."""

    def after(self, fate):
        self.ended *= 2
        super().after(fate)


@breaks("no-update-lost", "L-P4")
class MergesAnswersFirst(Concurrent):
    """The answer of a run beside stands before the message that it answers."""

    def merge(self, run):
        run.history[run.base :] = sorted(run.history[run.base :], key=lambda one: one.role == "user")
        super().merge(run)


@breaks("runs-kept-apart", "L-P3")
class SharesItsHistory(Concurrent):
    """Runs of a session write into one history while they are open."""

    def snapshot(self):
        return self.history

    def merge(self, run):
        self.inner.remove(run)


@breaks("runs-kept-apart", "L-P3")
class ShowsTheOthersMessage(Concurrent):
    """A run beside shows the message of the open run too, which has no answer yet: it is answered twice."""

    def snapshot(self):
        return [*super().snapshot(), *self.history[self.base : self.base + 1]]


@breaks("runs-kept-apart", "L-P3")
class LosesResultsBeside(Concurrent):
    """A result that comes while runs overlap reaches the log, and not the request of its run."""

    def made(self, name):
        return _WithoutResults(self, name)


class _WithoutResults(Beside):
    def shown(self):
        return [one for one in super().shown() if one.call_id is None]


@breaks("events-name-their-run", "L-P2")
class AnswersInTheOthersName(Concurrent):
    """What the model says in a run beside is attributed to the session's own run."""

    def record(self, kind, run, /, **fields):
        own = self.run_name if kind == "agent-output" and self.active else run
        super().record(kind, own, **fields)


@breaks("events-name-their-run", "L-P2")
class OneNameForAllRuns(Concurrent):
    """Every run of a session has the session's name."""

    def record(self, kind, run, /, **fields):
        super().record(kind, "session", **fields)


@breaks("events-name-their-run", "L-P2")
class EndsWithoutAName(Concurrent):
    """The end of a run does not say whose it is."""

    def record(self, kind, run, /, **fields):
        super().record(kind, None if kind == "run-stop" else run, **fields)


@breaks("runs-begin-at-once", "L-P1")
class QueuesWhatShouldRunBeside(Concurrent):
    """It declares that a message while busy begins a run of its own, and lets it wait."""

    def begin_beside(self, message):
        Right.user(self, message)


@breaks("runs-begin-at-once", "L-P1")
@breaks("busy-as-declared", "RC-3.2")
class RejectsWhatShouldRunBeside(Concurrent):
    """It declares that a message while busy begins a run of its own, and rejects it."""

    def begin_beside(self, message):
        self.refuse("rejected", "busy")


@breaks("calls-answered", "X-6")
class DropsResultsBeside(Concurrent):
    """The results of a run beside another one never reach the log: its calls look as if they ran for ever."""

    def record(self, kind, run, /, **fields):
        if kind != "tool-result" or run == self.run_name:
            super().record(kind, run, **fields)
