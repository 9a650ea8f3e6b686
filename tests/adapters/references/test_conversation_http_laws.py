"""The laws on a conversation whose model is behind HTTP: answers come over the socket, and inputs are the server's."""

from functools import cache
from tempfile import TemporaryDirectory

import pytest
from model_server import SECONDS, Served, served
from msgspec import to_builtins
from msgspec.structs import replace

from turncheck.adapters.references.conversation import PROFILE
from turncheck.adapters.references.driven import unsupported
from turncheck.adapters.targets.http.model_endpoint.completions import misfit
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.subject import missing
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import ModelAwaited, ModelFail, ModelOutput, ModelStop

UNSPOKEN = {"reasoning", "usage", "deaf", "images"}
"""What chat completions or the endpoint cannot say: reasoning behind a text, a usage of any shape, and images counted;
a model that ignores a closed connection is not heard."""
PROFILE_OVER_HTTP = replace(
    PROFILE,
    capabilities=tuple(name for name in PROFILE.capabilities if name not in UNSPOKEN),
    machine=None,  # its usage is part of the machine's steps
)
LAWS = [law for law in selected(["runtime"]) if not missing(law, PROFILE_OVER_HTTP)]


ERROR = "error: "


def received(asked):
    """The context as the server received it; the beginning of a result's text says that it is an error."""
    return tuple(
        replace(entry, text=entry.text.removeprefix(ERROR), is_error=True)
        if entry.role == "tool" and entry.text.startswith(ERROR)
        else entry
        for entry in asked.input
    )


class OverHttp(Served):  # type: ignore[misc]  # found by path
    """Gives each answer of the harness to the server, and waits until a whole one has come back.

    The inputs of its requests are those that the server received.
    """

    profile = PROFILE_OVER_HTTP

    def begin(self):
        self.calls = {}
        super().begin()
        self.shell._model = self

    def ask(self, question, answered):
        call = self._model.ask(question, answered)
        self.calls[call] = asked = self.server.calls.get(timeout=SECONDS)
        logged = next(event for event in reversed(self.shell.events) if event["type"] == "model-request")
        logged["input"] = to_builtins([*received(asked)])
        return call

    def waiting(self):
        for awaited, waits in super().waiting():
            if isinstance(awaited, ModelAwaited):
                yield replace(awaited, input=received(self.calls[waits.call])), waits
            else:
                yield awaited, waits

    def give(self, stimulus, waits):
        if not isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
            super().give(stimulus, waits)
            return
        asked = self.calls[waits.call]
        if isinstance(stimulus, ModelOutput):
            if why := misfit(asked.items, stimulus.item):
                raise unsupported(why)
            asked.items.append(stimulus.item)
        self.server.tell(asked, stimulus)
        if not isinstance(stimulus, ModelOutput):
            assert self.shell.arrivals(SECONDS)
            self._quiet()


@cache
def verified():
    with TemporaryDirectory() as folder, served(folder, kind=OverHttp) as runtime:
        return {one.law: one for one in verify_runtime(runtime, LAWS, words=10)[0].laws}


@pytest.mark.parametrize("law", [law.name for law in LAWS])
def test_over_http_it_keeps_the_law_and_was_seen_to(law):
    found = verified()[law]
    assert (found.verdict, found.why) == ("pass", None)
    assert found.evidence.observed
