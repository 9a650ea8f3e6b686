"""A runtime that conforms and asks about calls, also after a restart, and wrong ones that a restart confuses."""

from copy import copy

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import ApprovalAwaited

from .deciding import Deciding
from .hosting import Hosting, Session

KEPT = ("undecided", "rounds", "attempts", "said", "called", "begun", "executed", "pauses", "put_off")
"""What is kept of a session that waits for decisions, beside what is kept of each."""


class PausingSession(Session, Deciding):
    """One session that asks about calls."""


class Pausing(Hosting, pauseAfterRestart="kept"):
    """What waits for decisions waits for them after a restart; any other open run is interrupted."""

    session_type = PausingSession

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "approval", "client-tools"))

    def record(self, session):
        paused = session.undecided and not session.running and session.request is None
        return super().record(session) | {"pause": {name: copy(vars(session)[name]) for name in KEPT if paused}}

    def interrupt(self, session):
        pause = self.rest(session.session).get("pause")
        if pause:
            self.ask_on(session, pause)
        else:
            super().interrupt(session)

    def ask_on(self, session, pause):
        """Take up a pause."""
        vars(session).update({name: copy(value) for name, value in pause.items()})


class EndsPauses(Pausing, pauseAfterRestart="as-open"):
    """It conforms: a restart interrupts what waits for decisions too, and the profile says so."""

    def ask_on(self, session, pause):
        Hosting.interrupt(self, session)


# ---- wrong ones ----


@breaks("pause-outlives-restart", "L-A7")
class ForgetsThePause(Pausing, pauseAfterRestart="kept"):
    """A run that waited for decisions is interrupted by a restart, though the profile says that it waits on."""

    def ask_on(self, session, pause):
        Hosting.interrupt(self, session)


@breaks("pause-outlives-restart", "L-A7")
class ExecutesAtTheRestart(Pausing, pauseAfterRestart="kept"):
    """A restart takes the calls that wait for approved, and executes them."""

    def ask_on(self, session, pause):
        super().ask_on(session, pause)
        for call in list(pause["undecided"].values()):
            if isinstance(session.question(call), ApprovalAwaited):
                del session.undecided[call.call_id]
                session.approve(call)


class AskingTwice(PausingSession):
    """After a restart each question is there twice."""

    restarted = False

    def awaiting(self):
        found = list(super().awaiting())
        yield from found
        yield from (one for one in found if self.restarted and isinstance(one, ApprovalAwaited))


@breaks("pause-outlives-restart", "L-A7")
class AsksTwiceAfterARestart(Pausing, pauseAfterRestart="kept"):
    """A restart asks again about what the store asks about too: each question is there twice."""

    session_type = AskingTwice

    def ask_on(self, session, pause):
        super().ask_on(session, pause)
        session.restarted = True


class Deaf(PausingSession):
    """After a restart a denial is taken for an approval."""

    restarted = False

    def deny(self, call, message):
        if self.restarted:
            self.approve(call)
        else:
            super().deny(call, message)


@breaks("pause-outlives-restart", "L-A7")
class ExecutesWhatIsDeniedAfterARestart(Pausing, pauseAfterRestart="kept"):
    """What the store says of a pause is only that calls wait, and any answer lets them run."""

    session_type = Deaf

    def ask_on(self, session, pause):
        super().ask_on(session, pause)
        session.restarted = True


class Twice(PausingSession):
    """After a restart an approved call runs twice."""

    restarted = False

    def result(self, name, output, **flags):
        call = self.approved_call if self.restarted else None
        self.restarted = False
        if call is not None and call.call_id == name and self.active and not self.aborting:
            self.begin(call)
        else:
            super().result(name, output, **flags)

    approved_call = None

    def approve(self, call):
        self.approved_call = call
        super().approve(call)


@breaks("pause-outlives-restart", "L-A7")
class ExecutesTwiceAfterARestart(Pausing, pauseAfterRestart="kept"):
    """An answer after a restart is honoured by the store, and by the runtime once more."""

    session_type = Twice

    def ask_on(self, session, pause):
        super().ask_on(session, pause)
        session.restarted = True
