"""Parts of words, and readers of their steps."""

from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, ToolCall, User

ONE, TWO = User(id="u1", text="one"), User(id="u2", text="two")
STOP, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
TOOLS = ResetOptions(tools=({"name": "read", "schema": {"type": "object"}},))


def say(text, **more):
    return ModelOutput(item=Text(text=text), **more)


def call(call_id, arguments=None):
    return ModelOutput(item=ToolCall(call_id=call_id, tool="read", arguments=arguments))


def events(steps):
    return [event for step in steps for event in step.events]


def kinds(steps):
    return [event["type"] for event in events(steps)]
