"""A conforming runtime that hosts sessions, each a ``Right``; it takes images, logs usage and survives a kill."""

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import ResetOptions, Shown, Together, ToolReturn

from .right import Right
from .target import CAPABILITIES, Target


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

    def stop(self, reason, detail=None):
        super().stop(reason, detail)
        self.host.save(self)


class Hosting(Target):
    """Sessions by name, and the histories, by folder and session, which outlive the process."""

    def __init__(self, **given):
        self.kept = {}
        super().__init__(**given)
        more = ("sessions", "images", "usage", "persistence")
        self.profile = replace(self.profile, capabilities=(*CAPABILITIES, *more))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.options, self.sessions, self.events, self.refused = options, {}, [], None
        return self.step()

    def of(self, name):
        if name not in self.sessions:
            self.sessions[name] = session = Session(self, name)
            session.reset(self.options)
            session.history = list(self.load(name))
        return self.sessions[name]

    def take(self, stimulus):
        if isinstance(stimulus, Together):
            for one in stimulus.stimuli:
                self.take(one)
            return
        session = self.of(stimulus.session_id)
        session.events, session.refused = [], None
        session.take(stimulus)
        self.events += session.events
        self.refused = session.refused or self.refused

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
        """Keep the history."""
        self.kept[self.options.state_dir, session.session] = [*session.history]

    def load(self, name):
        """Return the history that was kept."""
        return self.kept.get((self.options.state_dir, name), ()) if self.options.state_dir else ()


@breaks("images-shown", "BED-013a")
class ShowsOneImageOnly(Hosting):
    """The model is shown only the first of a message's images."""

    def count(self, message):
        return min(super().count(message), 1)


@breaks("usage-told", "EF-6")
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
