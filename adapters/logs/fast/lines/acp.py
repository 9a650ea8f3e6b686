"""Lines of ACP transcripts: updates of sessions, prompts and their answers; all others are the mapper's."""

from collections.abc import Iterable
from typing import Any, Final, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, json

from turncheck.model.core.events import AgentOutput, OutputKind, RunStop, ToolResult, UserMessage

from ...formats.acp import FINAL, AcpMapper, Session
from .reading import Feed, Heard, LineLoop


class _Content(Struct, gc=False, tag_field="type"):
    pass


class _Text(_Content, gc=False, tag="text"):
    text: str | None = None


class _Image(_Content, gc=False, tag="image"):
    pass


class _Update(Struct, gc=False, tag_field="sessionUpdate"):
    pass


class _Said(_Update, gc=False, tag="agent_message_chunk"):
    content: _Text | _Image


class _Thought(_Update, gc=False, tag="agent_thought_chunk"):
    content: _Text | _Image


class _Call(_Update, gc=False, tag="tool_call"):
    toolCallId: str  # noqa: N815
    status: str | None = None
    kind: str | None = None


class _CallUpdate(_Update, gc=False, tag="tool_call_update"):
    toolCallId: str  # noqa: N815
    status: str | None = None


class _Echo(_Update, gc=False, tag="user_message_chunk"):
    pass


class _Plan(_Update, gc=False, tag="plan"):
    pass


class _Commands(_Update, gc=False, tag="available_commands_update"):
    pass


class _Mode(_Update, gc=False, tag="current_mode_update"):
    pass


class _Option(_Update, gc=False, tag="config_option_update"):
    pass


class _Info(_Update, gc=False, tag="session_info_update"):
    pass


class _Usage(_Update, gc=False, tag="usage_update"):
    pass


class _Params(Struct, gc=False):
    sessionId: str  # noqa: N815
    update: (
        _Said | _Thought | _Call | _CallUpdate | _Echo | _Plan | _Commands | _Mode | _Option | _Info | _Usage | None
    ) = None
    prompt: str | list[Raw] | None = None
    id: None = None


class _Result(Struct, gc=False):
    stopReason: str  # noqa: N815


class _Line(Struct, gc=False):
    method: Literal["session/update", "session/prompt"] | None = None
    params: _Params | None = None
    id: int | float | str | None = None
    result: _Result | None = None
    message: UnsetType = UNSET


class _Inner(_Line, gc=False, kw_only=True):
    jsonrpc: str


class _Wrapped(Struct, gc=False):
    message: _Inner
    jsonrpc: UnsetType = UNSET


_NOWHERE: Final = Session()


def _feeds(mapper: AcpMapper) -> Feed:
    def feed(lines: Iterable[Any], first: int, heard: Heard) -> None:
        hear, place = heard.events.append, heard.ats.append
        name = ""
        state = _NOWHERE
        for at, line in enumerate(lines, first):
            params: Any = line.params if line.__class__ is _Line else None
            if params is None or (update := params.update) is None or line.method != "session/update":
                if isinstance(line, _Wrapped):
                    inner = line.message
                    feed((_Line(inner.method, inner.params, inner.id, inner.result),), at, heard)
                else:
                    _take(mapper, line, at, heard)
                continue
            if params.sessionId != name or state is _NOWHERE:
                name = params.sessionId
                state = mapper.session(name)
            kind = update.__class__
            if kind is _Said or kind is _Thought:
                saying: OutputKind = "assistant" if kind is _Said else "reasoning"
                if (saying == state.saying and state.said) or state.loading:
                    continue
                content = update.content
                text = content.text if content.__class__ is _Text else None
                if text and state.running:
                    state.saying, state.said = saying, True
                    hear(AgentOutput(saying, text, session_id=name))
                    place(at)
                else:
                    heard.add(at, mapper.chunk(name, saying, text))
            elif kind is _CallUpdate:
                status, call = update.status, update.toolCallId
                if status in FINAL and not state.loading and call not in state.answered:
                    state.saying = None
                    state.answered.add(call)
                    hear(ToolResult(call, status == "failed" or None, session_id=name))
                    place(at)
            elif kind is _Call and not state.loading:
                call = update.toolCallId
                if state.running:
                    state.saying = None
                    state.calls.add(call)
                    hear(AgentOutput("tool-call", None, call, update.kind or "other", session_id=name))
                    place(at)
                else:
                    heard.add(at, mapper.call(name, call, update.kind))
                if update.status in FINAL:
                    heard.add(at, mapper.status(name, call, update.status))

    return feed


def _take(mapper: AcpMapper, line: _Line | None, at: int, heard: Heard) -> None:
    """Take a prompt, or its answer; leave all else to the mapper."""
    told: UserMessage | RunStop | None = None
    if line is not None and not isinstance(line.id, float):
        request, params = repr(line.id), line.params
        if line.method is None:
            told = None if line.result is None else mapper.answer(request, line.result.stopReason)
        elif line.method == "session/prompt" and params is not None and params.prompt is not None:
            session, prompt = params.sessionId, params.prompt
            mapper.prompt(session, request)
            text, parts = (prompt, None) if isinstance(prompt, str) else (None, prompt)
            told = UserMessage(text, parts, session_id=session)
    if told is None:
        heard.leave(at)
    else:
        heard.add(at, (told,))


UPDATES: Final = LineLoop(json.Decoder(_Line).decode, _feeds, again=json.Decoder(_Wrapped).decode)
