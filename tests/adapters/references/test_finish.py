"""How a response ended, seed 004's ``Done { finish_reason, usage }``: told once, in its own round; and doubles.

``engine`` and ``event_flow`` tell it alike: the terminal has the reason and the usage of the response that ended the
run, and an observation those of a response that led to a further round.
"""

from dataclasses import replace

import pytest

from turncheck.adapters.references.engine import engine as engine_module
from turncheck.adapters.references.engine.runtime import EngineRuntime
from turncheck.adapters.references.event_flow import backend as backend_module
from turncheck.adapters.references.event_flow.runtime import EventFlowRuntime
from turncheck.model.core.stimuli import (
    Abort,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.declaration.vocabulary import Const, Emit

RUNTIMES = {"engine": EngineRuntime, "event_flow": EventFlowRuntime}
HOLDERS = {"engine": engine_module, "event_flow": backend_module}
"""Runtime → the module whose ``SPEC`` it runs."""

ONE, TWO = User(id="u1", text="one"), User(id="u2", text="two")
TEXT = ModelOutput(item=Text(text="all well"))


def call(name):
    return ModelOutput(item=ToolCall(call_id=name, tool="read", arguments={}))


def stop(tokens, reason="end-turn"):
    return ModelStop(reason=reason, usage={"inputTokens": tokens, "outputTokens": 1})


def ran(name):
    """A round with a tool, in the order in which either runtime takes it: one that is not awaited is refused."""
    return (call(name), ToolReturn(call_id=name), stop(len(name) + 3, "tool-use"), ToolReturn(call_id=name))


WORDS = {
    "a text": (ONE, TEXT, stop(5)),
    "a text that was cut short": (ONE, TEXT, stop(5, "length")),
    "a response without usage": (ONE, TEXT, ModelStop(reason="end-turn")),
    "a response without anything": (ONE, stop(5)),
    "a tool and a text": (ONE, *ran("c"), TEXT, stop(9)),
    "two rounds with tools": (ONE, *ran("c"), *ran("cc"), TEXT, stop(9)),
    "the bound is reached": (ONE, *ran("c"), *ran("cc"), *ran("ccc")),
    "a failing tool": (
        ONE,
        call("c"),
        ToolFail(call_id="c", message="broken"),
        stop(4, "tool-use"),
        ToolFail(call_id="c", message="broken"),
        TEXT,
        stop(9),
    ),
    "the model fails": (ONE, *ran("c"), TEXT, ModelFail(failure="fatal")),
    "the stream breaks": (ONE, *ran("c"), TEXT, ModelFail(failure="stream")),
    "the user stops it": (ONE, *ran("c"), TEXT, Abort()),
    "two runs": (ONE, TEXT, stop(5), TWO, TEXT, stop(6)),
    "a run behind one that failed": (ONE, TEXT, ModelFail(failure="fatal"), TWO, TEXT, stop(6)),
}


def finish(event):
    return event.get("finishReason"), event.get("usage")


def faults(made, word):
    """Return what *word* shows to be wrong: each whole response is told once, at its own place."""
    runtime = made()
    runtime.reset(ResetOptions(tools=({"name": "read"},), limits={"maxRounds": 3}))
    step, found = runtime.step(), set()
    for stimulus in word:
        asked = [one.request_id for one in step.awaiting if isinstance(one, ModelAwaited)]
        step = runtime.apply(stimulus)
        ended = isinstance(stimulus, ModelStop) and step.refused is None
        told = [event for event in step.events if finish(event) != (None, None)]
        if not ended and told:
            found.add("only a response that is whole has a finish reason and a usage")
        if not ended:
            continue
        if [finish(event) for event in told] != [(stimulus.reason, stimulus.usage)]:
            found.add("a response is told once, with its own finish reason and usage")
        terminal = [event for event in step.events if event["type"] == "run-stop"]
        if terminal and told != terminal:
            found.add("the terminal tells of the response that ended the run")
        if not terminal and [event.get("responseId") for event in told] != asked:
            found.add("what is told of a response has its id")
    runtime.close()
    return found


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_each_response_is_told_once_with_its_own_finish_reason_and_usage(runtime, name):
    """RS-6, RS-D1, EF-6."""
    assert faults(RUNTIMES[runtime], WORDS[name]) == set()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_terminal_has_the_finish_reason_and_the_usage_of_the_last_round(runtime):
    made = RUNTIMES[runtime]()
    made.reset(ResetOptions(tools=({"name": "read"},)))
    (terminal,) = [event for step in made.run(WORDS["a tool and a text"]) for event in step.events][-1:]
    assert terminal == {
        "type": "run-stop",
        "reason": "completed",
        "finishReason": "end-turn",
        "usage": {"inputTokens": 9, "outputTokens": 1},
    }


def test_a_client_gets_the_session_alone():
    """RS-7: the wire's ``done`` has no more."""
    made = EngineRuntime()
    made.reset(ResetOptions())
    made.run(WORDS["a text"])
    assert made.wire[-1] == ("done", '{"session_id": "s1"}')


@pytest.mark.parametrize(("reason", "told"), [("end-turn", "stop"), ("tool-use", "tool_calls"), ("length", "length")])
def test_the_frames_have_the_models_finish_reason_in_the_words_of_the_wire(reason, told):
    """EF-12."""
    made = EventFlowRuntime()
    made.reset(ResetOptions())
    made.run((ONE, TEXT, stop(5, reason)))
    assert [block.finish_reason for block in made.blocks] == [told]


# ---- doubles that break it ----


def exchanging(runtime, told):
    """A runtime that hears something else of a response's end: *told* maps the ends until now to the changed fields."""
    ends, hear = [], runtime.hear

    def heard(event, **fields):
        if event in {"stream-end", "response-end"}:
            ends.append(fields)
            fields = {**fields, **told(ends)}
        hear(event, **fields)

    runtime.hear = heard
    return runtime


def total(ends):
    names = ("inputTokens", "outputTokens")
    return {name: sum((one["usage"] or {}).get(name, 0) for one in ends) for name in names}


WRONG = {
    "the finish reason is dropped": lambda _: {"finish_reason": None},
    "the usage is dropped": lambda _: {"usage": None},
    "each end is an end-turn": lambda _: {"finish_reason": "end-turn"},
    "the usage is the first round's": lambda ends: {"usage": ends[0]["usage"]},
    "the usage is that of the round before": lambda ends: {"usage": ends[-2]["usage"] if len(ends) > 1 else None},
    "the usage of all rounds is added up": lambda ends: {"usage": total(ends)},
}


def broken(made):
    """Return what all the words show to be wrong."""
    return set().union(*(faults(made, word) for word in WORDS.values()))


OWN = "a response is told once, with its own finish reason and usage"


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_runtime_that_exchanges_what_the_model_said_breaks_it(runtime, wrong):
    assert OWN in broken(lambda: exchanging(RUNTIMES[runtime](), WRONG[wrong]))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_runtime_that_passes_on_what_it_hears_is_right(runtime):
    assert broken(lambda: exchanging(RUNTIMES[runtime](), lambda ends: dict(ends[-1]))) == set()


def with_effects(spec, **effects):
    return replace(spec, effects={**spec.effects, **effects})


def without(spec, effect):
    return replace(spec, table=[[*row[:5], [one for one in row[5] if one != effect]] for row in spec.table])


def completed(spec, *said):
    """The machine whose completed runs end with *said* instead."""
    (name,) = [name for name in spec.effects if name in {"done_completed", "end_completed"}]
    right = spec.effects[name]
    return with_effects(spec, **{name: Emit(right.output, (*right.arguments[:2], *said))})


MACHINES = {
    "a terminal without a finish reason": lambda spec: completed(
        spec, Const(None), spec.effects["tell_finish"].arguments[2]
    ),
    "a terminal without a usage": lambda spec: completed(spec, spec.effects["tell_finish"].arguments[1], Const(None)),
    "a terminal with neither": lambda spec: completed(spec, Const(None), Const(None)),
    "a round that is not told": lambda spec: without(spec, "tell_finish"),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_wrong_machine_breaks_it(runtime, name, monkeypatch):
    monkeypatch.setattr(HOLDERS[runtime], "SPEC", MACHINES[name](HOLDERS[runtime].SPEC))
    assert OWN in broken(RUNTIMES[runtime])
