"""A conforming runtime that hosts sessions, each a ``Right``; it takes images, logs usage and survives a kill.

Each step is stored before it is told. A run that a kill cut is interrupted at the restart, its calls answered. A write
that fails is tried again.
"""

from collections import deque

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import ResetOptions, Shown, StoreFail, Together, ToolReturn

from ..right import Right
from ..target import CAPABILITIES, Target


class Session(Right):
    """One session: every event and every awaited answer names it; the default session has no name."""

    def __init__(self, host, name):
        self.host, self.session = host, name
        super().__init__(**host.given)
        self.profile = host.profile

    def log(self, kind, /, **fields):
        super().log(kind, **({} if self.session is None else {"sessionId": self.session}), **fields)

    def awaiting(self):
        yield from (replace(one, session_id=self.session) for one in super().awaiting())

    def read(self, message):
        images = self.host.count(message)
        shown = {"images": images} if images else {}
        self.history.append(Shown(role="user", text=message.text, ids=(message.id,), **shown))

    def model(self, stimulus):
        self.usage = getattr(stimulus, "usage", None)
        super().model(stimulus)
        if self.usage is not None:
            self.host.tell(self, self.usage)


class Hosting(Target):
    """Sessions by name, and what is kept of each, by folder and session, which outlives the process."""

    session_type = Session

    def __init__(self, **given):
        self.kept, self.failing = {}, 0
        super().__init__(**given)
        more = ("sessions", "images", "usage", "persistence", "store-faults")
        self.profile = replace(self.profile, capabilities=(*CAPABILITIES, *more))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.options, self.events, self.refused, self.failing = options, [], None, 0
        self.sessions: dict[str | None, Session] = {}
        for folder, name in list(self.kept):
            if folder == options.state_dir and folder is not None:
                self.events += self.of(name).events
                self.save(self.sessions[name])
        return self.step()

    def of(self, name):
        if name not in self.sessions:
            self.sessions[name] = session = self.session_type(self, name)
            session.reset(self.options)
            session.history = list(self.load(name))
            self.revive(session, self.rest(name))
        return self.sessions[name]

    def revive(self, session, rest):
        """Take up what waited, and end the run that was open."""
        session.queue, session.steers = deque(rest.get("queue", ())), deque(rest.get("steers", ()))
        session.joined, session.open = list(rest.get("joined", ())), dict(rest.get("open", {}))
        session.asked, session.pending = rest.get("asked", 0), deque()
        session.aborting, session.amid, session.cut, session.begun = False, False, False, len(session.history)
        if rest.get("active"):
            session.active = True
            self.interrupt(session)

    def interrupt(self, session):
        """End the run that a kill cut."""
        session.stop("interrupted")

    def take(self, stimulus):
        if isinstance(stimulus, StoreFail):
            self.failing += stimulus.times
            return
        if isinstance(stimulus, Together):
            for one in stimulus.stimuli:
                self.take(one)
            return
        session = self.of(stimulus.session_id)
        session.events, session.refused = [], None
        session.take(stimulus)
        self.events += session.events
        self.refused = session.refused or self.refused
        self.save(session)

    def awaiting(self):
        for session in self.sessions.values():
            yield from session.awaiting()

    def count(self, message):
        """Return the number of images that the model is shown with a message."""
        return sum(part.get("type") == "image" for part in message.content or ())

    def tell(self, session, usage):
        """Log the model's usage."""
        session.events.append({"type": "native", "usage": usage})

    def save(self, session):
        """Keep the session; try again where that fails."""
        while not self.write(session):
            pass

    def write(self, session):
        """Keep the session; return whether that worked."""
        if self.failing:
            self.failing -= 1
            return False
        self.kept[self.options.state_dir, session.session] = self.record(session)
        return True

    def record(self, session):
        """Return what is kept of a session."""
        return {
            "history": [*session.history],
            "queue": [*session.queue],
            "steers": [*session.steers],
            "joined": [*session.joined],
            "open": dict(getattr(session, "open", {})),
            "active": session.active,
            "asked": session.asked,
        }

    def rest(self, name):
        """Return what was kept of a session, nothing of a new one."""
        return self.kept.get((self.options.state_dir, name), {}) if self.options.state_dir else {}

    def load(self, name):
        """Return the history that was kept."""
        return self.rest(name).get("history", ())


class WritesMessagesFirst(Hosting):
    """It conforms: a write that fails is that of the next message, whose run ends with error before it asks."""

    def save(self, session):
        failing, self.failing = self.failing, 0
        super().save(session)
        self.failing = failing

    def take(self, stimulus):
        if type(stimulus).__name__ != "User" or not self.failing:
            super().take(stimulus)
            return
        self.failing -= 1
        session = self.of(stimulus.session_id)
        if session.active:  # it only waits: written again with the next step
            super().take(stimulus)
            return
        session.events = []
        session.log("user-message", id=stimulus.id, text=stimulus.text, delivery=stimulus.delivery)
        session.log("run-stop", reason="error", detail="the disk is full")
        self.events += session.events


@breaks("images-shown", "BED-013a")
class ShowsOneImageOnly(Hosting):
    """The model is shown only the first of a message's images."""

    def count(self, message):
        return min(super().count(message), 1)


@breaks("usage-told", "EF-6", "BED-012a")
class KeepsUsageToItself(Hosting):
    """The model's usage is counted, and not logged."""

    def tell(self, session, usage):
        pass


@breaks("sessions-independent", "X-7")
class SessionsShareAQueue(Hosting):
    """Messages that wait in one session are served by any session whose run ends first."""

    def of(self, name):
        session = super().of(name)
        session.queue = next(iter(self.sessions.values())).queue
        return session


@breaks("sessions-independent", "X-7")
class SessionsShareTheirCalls(Hosting):
    """A tool's end goes to whichever session has a call of that id: the one that was used last."""

    def take(self, stimulus):
        if isinstance(stimulus, ToolReturn):
            owners = [
                one for one in self.sessions.values() if any(stimulus.call_id == run.call_id for run in one.running)
            ]
            if owners:
                stimulus = replace(stimulus, session_id=owners[-1].session)
        super().take(stimulus)


@breaks("sessions-independent", "BED-001b")
class OneAbortForAll(Hosting):
    """An abort in one session ends the runs of all."""

    def take(self, stimulus):
        super().take(stimulus)
        if type(stimulus).__name__ == "Abort":
            for session in self.sessions.values():
                session.events = []
                session.abort()
                self.events += session.events


@breaks("restart-remembers", "BED-007c")
class ForgetsAtARestart(Hosting):
    """After a restart the history is empty."""

    def load(self, name):
        return ()


@breaks("restart-remembers", "BED-007c")
class RemembersTheQuestionsOnly(Hosting):
    """After a restart, the model is shown the users' messages, and not its own answers."""

    def load(self, name):
        return [one for one in super().load(name) if one.role == "user"]


@breaks("restart-remembers", "BED-007b")
class BusyAfterARestart(Hosting):
    """After a restart the agent counts as busy, and the next message waits for ever."""

    def of(self, name):
        new = name not in self.sessions
        session = super().of(name)
        session.active = session.active or (new and bool(session.history))
        return session


@breaks("restart-serves", "L-R2")
class StuckOnWorkingAfterAKill(Hosting):
    """A run that a kill cut is loaded as running, and nobody runs it."""

    def interrupt(self, session):
        pass


@breaks("restart-serves", "L-R4")
class OrphanedCallAfterAKill(Hosting):
    """A run that a kill cut is ended, and its calls are forgotten: every later request shows them unanswered."""

    def interrupt(self, session):
        session.open = {}
        super().interrupt(session)


@breaks("restart-serves", "L-R4")
class RefusesAfterAKill(Hosting):
    """A session whose run was cut stays locked: the next message is refused."""

    def interrupt(self, session):
        super().interrupt(session)
        session.locked = True

    def take(self, stimulus):
        session = self.sessions.get(stimulus.session_id)
        if type(stimulus).__name__ == "User" and getattr(session, "locked", False):
            self.refuse("rejected", "the session is locked by another process")
        else:
            super().take(stimulus)


@breaks("restart-serves", "L-R2")
class EndsAsItLikes(Hosting):
    """A run that a kill cut is interrupted while it asks, and an error while its tools run."""

    def interrupt(self, session):
        session.stop("error" if session.open else "interrupted")


@breaks("restart-keeps", "L-R3")
class ForgetsTheMessageThatWaited(Hosting):
    """The queue is in memory alone."""

    def record(self, session):
        return super().record(session) | {"queue": []}


@breaks("restart-keeps", "L-R1")
class ForgetsTheLastEndedTurn(Hosting):
    """A run is stored when the next one begins: a kill in between forgets it."""

    def record(self, session):
        kept = self.kept.get((self.options.state_dir, session.session), {}).get("history", [])
        return super().record(session) | {} if session.active else super().record(session) | {"history": kept}


@breaks("restart-keeps", "L-R1")
class ShowsTheEndedTurnTwice(Hosting):
    """The history is stored in two places, and loaded from both."""

    def load(self, name):
        return [*super().load(name)] * 2


@breaks("restart-keeps", "L-R1")
class LosesTheResultsAtARestart(Hosting):
    """Results are not stored: after a restart they are replaced by a note."""

    def load(self, name):
        return [replace(one, text="lost") if one.role == "tool" else one for one in super().load(name)]


@breaks("idle-restart-changes-nothing", "L-R6")
class EndsTheLastRunAgain(Hosting):
    """A restart ends the last run once more, though it is over."""

    def revive(self, session, rest):
        super().revive(session, rest)
        if not session.active and session.history:
            session.log("run-stop", reason="interrupted")


@breaks("store-faults", "L-R5")
class AcknowledgesWhatItDidNotStore(Hosting):
    """A write that fails is swallowed: what the user was shown is gone after a restart."""

    def save(self, session):
        self.write(session)
