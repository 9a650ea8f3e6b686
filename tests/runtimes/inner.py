"""A session with runs inside it, which count and log as it does: runs beside its own, or sub-agents that it calls."""

from turncheck.model.core.stimuli import (
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    ToolFail,
    ToolReturn,
)

from .right import Right


class Inner(Right):
    """A run inside a session: its counts of requests and executions are the session's."""

    def __init__(self, session):
        super().__init__(**session.given)
        self.session = session
        self.profile, self.policies, self.options = session.profile, session.policies, session.options

    def ask(self):
        self.asked = self.session.asked
        super().ask()
        self.session.asked = self.asked

    def begin(self, call):
        self.executed = self.session.executed
        super().begin(call)
        self.session.executed = self.executed


class Outer(Right):
    """The session: a stimulus that an inner run waits for goes there."""

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.inner = []
        return super().reset(options)

    def take(self, stimulus):
        run = self.inner_of(stimulus)
        if run is None:
            super().take(stimulus)
        else:
            run.refused = None
            run.take(stimulus)
            self.refused = run.refused

    def inner_of(self, stimulus):
        """The inner run that a stimulus answers."""
        match stimulus:
            case ModelOutput() | ModelStop() | ModelFail():
                waiting = [one.request_id for one in self.awaiting() if isinstance(one, ModelAwaited)]
                name = stimulus.request_id or next(iter(waiting), None)
                return next((one for one in self.inner if one.request is not None and one.request == name), None)
            case ToolReturn() | ToolFail():
                return next((one for one in self.inner if stimulus.call_id in one.open), None)
        return None

    def awaiting(self):
        yield from super().awaiting()
        for one in self.inner:
            yield from one.awaiting()
