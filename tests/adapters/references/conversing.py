"""Words for a conversation: what the user and the model say, and what the model is shown."""

from turncheck.adapters.references.conversation import SPAWN
from turncheck.conformance.generation.situations import TOOLS
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, ToolCall, User

GO = User(id="u1", text="go")
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
SPAWNING = ResetOptions(tools=(*TOOLS, {"name": SPAWN}))


def say(text, agent=None):
    return ModelOutput(item=Text(text=text), agent_id=agent)


def call(name, tool="read", agent=None, **arguments):
    return ModelOutput(item=ToolCall(call_id=name, tool=tool, arguments=arguments), agent_id=agent)


def shown_to_the_model(step):
    """Return the texts, else the calls, of the one request that waits."""
    (asked,) = step.awaiting
    return [entry.text or entry.call_id for entry in asked.input]
