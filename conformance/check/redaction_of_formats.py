"""Redaction of logs in other formats: what a reader looks at is kept or renamed, all else is replaced by its size.

Nothing is kept because of where it stands: a string stays if it is one of the format's words, or the name of a tool; an
id gets a new name, the same one for the same id; any other string, number and field name is replaced.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, cast

from turncheck.adapters.logs.formats.ag_ui import AgUiMapper
from turncheck.adapters.logs.formats.ag_ui_fields import NAMES
from turncheck.adapters.logs.formats.ai_sdk import AiSdkMapper
from turncheck.adapters.logs.formats.anthropic import AnthropicMapper
from turncheck.adapters.logs.formats.declared import Row
from turncheck.adapters.logs.formats.mapping import Format
from turncheck.adapters.logs.formats.openai_responses import ResponsesMapper

_DEPTH: Final = 100
"""Levels that are kept: readers need not accept more than 200."""
_TOOL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}")
"""The name of a tool: providers take no longer ones."""
_CALL_IDS: Final = ("toolCallId", "tool_call_id", "tool_use_id", "call_id")
_ROLES: Final = ("user", "assistant", "system", "developer", "tool", "function", "reasoning", "toolResult")
_PARTS: Final = ("text", "output_text", "input_text", "refusal", "thinking", "tool_use", "tool_result", "message")


@dataclass(frozen=True)
class Kept:
    """The parts of a format that stay.

    *fields* are names; in the fields *ids* strings are renamed, in *tools* they are a tool's name, in *numbers* numbers
    stay, also those in strings; *words* are strings that stay wherever they stand, *spelled* the pattern of further
    ones, *beginnings* those that strings keep. In the fields *nested* a string may hold JSON, of which the same stays.
    """

    fields: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    spelled: re.Pattern[str] | None = None


def _kept(fields: str, ids: str, tools: str, words: Iterable[str], numbers: str = "", *beginnings: str) -> Kept:
    names = frozenset((*ids.split(), *_CALL_IDS))
    kept = frozenset((*fields.split(), *tools.split(), *numbers.split(), *names, "type", "role", "content"))
    return Kept(
        kept,
        names,
        frozenset(tools.split()),
        frozenset((*words, *_ROLES, *_PARTS)),
        beginnings,
        frozenset(numbers.split()),
    )


_MESSAGE_FIELDS: Final = "message messages parts text thinking summary state tool_calls function custom input output"
_MESSAGE_WORDS: Final = (
    *("function_call", "function_call_output", "reasoning", "tool-call", "tool-result", "dynamic-tool", "step-start"),
    *("server_tool_use", "web_search_tool_result", "mcp_tool_use", "mcp_tool_result", "input-streaming"),
    *("input-available", "output-available", "output-error", "output-denied"),
    *("approval-requested", "approval-responded", "custom"),
)


def _of_table(rows: tuple[Row, ...]) -> Kept:
    paths = [(part, path) for row in rows for part, path in row.parts.items()]
    last = {"id": set[str](), "tool": set[str]()}
    for part, path in paths:
        if part in ("id", "call_id", "response_id"):
            last["id"].add(path.rpartition(".")[2])
        elif part == "tool":
            last["tool"].add(path.rpartition(".")[2])
    names = {name for _, path in paths for name in path.split(".")}
    names |= {name for row in rows for path in row.when for name in path.split(".")}
    words = frozenset(str(value) for row in rows for value in row.when.values())
    numbers = frozenset(path.rpartition(".")[2] for row in rows for path in row.when)
    return Kept(frozenset(names), frozenset(last["id"]), frozenset(last["tool"]), words, (), numbers)


def kept_of(form: Format) -> Kept | None:
    """Return what stays of a format; None where nobody has said it, as for a mapper of the user's own."""
    return _of_table(form.rows) if form.rows else _KEPT.get(form.name)


def redacted(kept: Kept, values: Iterable[Any]) -> Iterator[str]:
    """Yield the redacted lines of a log, one per value; an unreadable one stays unreadable."""
    redactor = _Redactor(kept)
    for value in values:
        yield "unreadable" if value is None else json.dumps(redactor.value(value, "", 0), ensure_ascii=False)


class _Redactor:
    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._names: dict[tuple[str, bytes], str] = {}

    def value(self, value: Any, field: str, depth: int) -> Any:
        """Return what stands for *value*, which was found in the field *field*."""
        match value:
            case dict() if depth < _DEPTH:
                given = cast("dict[str, Any]", value)
                return {self._field(name): self.value(inner, name, depth + 1) for name, inner in given.items()}
            case list() if depth < _DEPTH:
                return [self.value(inner, field, depth + 1) for inner in cast("Sequence[Any]", value)]
            case str():
                inner = _json(value) if field in self._kept.nested and depth < _DEPTH else None
                return self._text(value, field) if inner is None else json.dumps(self.value(inner, "", depth + 1))
            case bool() | None:
                return value
            case int() | float():
                return value if field in self._kept.numbers else 0
            case _:
                return None

    def _field(self, name: str) -> str:
        return name if name in self._kept.fields else self._named("key", name)

    def _text(self, text: str, field: str) -> str:
        kept = self._kept
        if not text or text in kept.words or (field in kept.tools and _TOOL.fullmatch(text)):
            return text
        if (field in kept.numbers and text.isdecimal()) or (kept.spelled is not None and kept.spelled.fullmatch(text)):
            return text
        if field in kept.ids:
            return self._named("id", text)
        beginning = next((one for one in kept.beginnings if text.startswith(one)), "")
        return f"{beginning}{self._named('text', text)}, {len(text)} characters"

    def _named(self, kind: str, text: str) -> str:
        """A name for a text, the same one for the same text; of the text itself a hash is remembered."""
        key = kind, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        return self._names.setdefault(key, f"{kind}{len(self._names) + 1}")


def _json(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that a text holds as JSON, None where it holds none."""
    with suppress(ValueError, RecursionError):
        if text.startswith(("{", "[")):
            return cast("dict[str, Any] | list[Any]", json.loads(text))
    return None


_PI: Final = (
    "message messages stopReason assistantMessageEvent contentIndex delta toolCall toolResults steering followUp"
    " success willRetry isError errorMessage replacement redacted text thinking timestamp"
)
_PI_IDS: Final = "id parentId targetId"
_PI_TOOLS: Final = "name toolName"
_PI_WORDS: Final = (
    *("agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end"),
    *("tool_execution_start", "tool_execution_update", "tool_execution_end", "queue_update", "auto_retry_start"),
    *("auto_retry_end", "compaction_start", "compaction_end", "session", "context_edit", "toolCall", "image"),
    *(f"{family}_{phase}" for family in ("text", "thinking", "toolcall") for phase in ("start", "delta", "end")),
    *("aborted", "error", "stop", "toolUse", "length"),
)
_CLAUDE: Final = (
    f"{_MESSAGE_FIELDS} isSidechain isMeta isSynthetic isCompactSummary isVisibleInTranscriptOnly isApiErrorMessage"
    " error model attachment prompt subtype is_error snapshot stop_reason timestamp terminal_reason isReplay"
)
_CLAUDE_IDS: Final = "id uuid parentUuid sessionId session_id agentId parent_tool_use_id"
_CLAUDE_WORDS: Final = (
    *(*_MESSAGE_WORDS, "queue-operation", "file-history-snapshot", "last-prompt", "cost-state", "attachment"),
    *("system", "result", "stream_event", "queued_command", "api_error", "init", "success", "<synthetic>"),
    *("error_during_execution", "error_max_turns", "completed", "summary"),
)
_CLAUDE_BEGINNINGS: Final = (
    *("[Request interrupted by user", "<local-command-", "<command-name>", "<command-message>", "<bash-input>"),
    *("<bash-stdout>", "aborted"),
)
_CODEX: Final = (
    f"{_MESSAGE_FIELDS} payload item reason error status timestamp usage thread_id turn_id action last_agent_message"
)
_CODEX_WORDS: Final = (
    *(*_MESSAGE_WORDS, "session_meta", "response_item", "event_msg", "turn_context", "compacted", "custom_tool_call"),
    *("local_shell_call", "custom_tool_call_output", "task_started", "turn_started", "item_completed", "user_message"),
    *("task_complete", "turn_complete", "turn_aborted", "stream_error", "UserMessage", "interrupted", "replaced"),
    *("review_ended", "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "error"),
    *("item.updated", "item.completed", "agent_message", "command_execution", "file_change", "mcp_tool_call"),
    *("collab_tool_call", "web_search", "failed", "declined", "completed", "in_progress"),
)
_UI_FIELDS: Final = (
    "delta inputTextDelta errorText finishReason reason preliminary state data url mediaType messageMetadata"
)
_KEPT: Final[Mapping[str, Kept]] = {
    "ag-ui": _kept(
        f"{' '.join(sorted(NAMES))} resume interrupts interruptIds op path from",
        "id messageId entityId threadId runId parentMessageId stepName subagentRunId parentSubagentRunId interruptIds",
        "toolCallName",
        (
            *(*AgUiMapper().handlers, "cancelled", "success", "interrupt", "pydantic_ai_enqueued_messages"),
            *(f'{{"pydantic_ai": {{"outcome": "{name}"}}}}' for name in ("failed", "denied", "retried", "interrupted")),
            *("tool-call", "message", "suspended", "add", "replace", "test", "move", "copy", "remove"),
        ),
        "",
        "/",  # pointers of patches
    ),
    "ai-sdk": _kept(
        _UI_FIELDS,
        "id messageId approvalId sourceId",
        "toolName",
        (
            *AiSdkMapper().handlers,
            "file",
            "message-metadata",
            "[DONE]",
            "error",
            "stop",
            "length",
            "tool-calls",
            "other",
        ),
    ),
    "pi": _kept(_PI, _PI_IDS, _PI_TOOLS, _PI_WORDS, "contentIndex version timestamp"),
    "pi-session": _kept(_PI, _PI_IDS, _PI_TOOLS, _PI_WORDS, "version timestamp"),
    "claude-code": _kept(_CLAUDE, _CLAUDE_IDS, "name", _CLAUDE_WORDS, "", *_CLAUDE_BEGINNINGS),
    "claude-code-stream": _kept(_CLAUDE, _CLAUDE_IDS, "name", _CLAUDE_WORDS, "", *_CLAUDE_BEGINNINGS),
    "codex": _kept(_CODEX, "id thread_id turn_id", "name", _CODEX_WORDS, "ordinal"),
    "codex-exec": _kept(_CODEX, "id thread_id", "name", _CODEX_WORDS),
    "acp": _kept(
        "jsonrpc method params result error message update sessionUpdate prompt stopReason status toolCall text data",
        "id sessionId",
        "kind",
        (
            *(
                "2.0",
                "session/prompt",
                "session/update",
                "session/load",
                "session/cancel",
                "session/request_permission",
            ),
            *("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "completed", "failed"),
            *("in_progress", "pending", "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"),
        ),
        "id",
    ),
    "anthropic": _kept(
        "message index content_block delta text thinking partial_json usage stop_reason is_error error",
        "id",
        "name",
        (*AnthropicMapper().handlers, *_MESSAGE_WORDS, "text_delta", "thinking_delta", "input_json_delta", "end_turn"),
        "index",
    ),
    "openai-chat": _kept(
        "object choices index delta finish_reason content reasoning_content reasoning refusal tool_calls function"
        " arguments role usage error message",
        "id",
        "name",
        (
            *_MESSAGE_WORDS,
            "chat.completion.chunk",
            "[DONE]",
            "stop",
            "length",
            "content_filter",
            "tool_calls",
            "function",
            "error",
        ),
        "index",
    ),
    "openai-responses": _kept(
        "response item output_index delta arguments error incomplete_details reason sequence_number message",
        "id item_id",
        "name",
        (*ResponsesMapper().handlers, *_MESSAGE_WORDS, "custom_tool_call"),
        "output_index sequence_number",
    ),
    "otlp": replace(
        _kept(
            "key resourceSpans scopeSpans spans attributes events value values stringValue boolValue intValue"
            " arrayValue kvlistValue status parts finish_reason",
            "id traceId spanId parentSpanId stringValue",
            "name",
            (
                *("gen_ai.operation.name", "gen_ai.conversation.id", "gen_ai.response.id", "gen_ai.tool.call.id"),
                *("gen_ai.tool.name", "gen_ai.input.messages", "gen_ai.output.messages", "error.type", "exception"),
                *("gen_ai.response.finish_reasons", "exception.type", "openinference.span.kind", "session.id"),
                *("tool_call.id", "tool.id", "tool.name", "input.value", "output.value", "llm.finish_reason"),
                *("final_result", "gen_ai.client.inference.operation.details", "invoke_agent", "chat", "execute_tool"),
                *("generate_content", "text_completion", "AGENT", "LLM", "TOOL", "tool_call", "tool_call_response"),
                *("server_tool_call", "server_tool_call_response", "reasoning", "thinking", "model", "error"),
                *("CancelledError", "asyncio.exceptions.CancelledError", "AbortError", "KeyboardInterrupt"),
                *("STATUS_CODE_OK", "STATUS_CODE_ERROR"),
            ),
            "code flags startTimeUnixNano endTimeUnixNano",
        ),
        nested=frozenset(("stringValue",)),
        spelled=re.compile(
            r"llm\.(in|out)put_messages\.\d+\.message(\.(\d+|role|contents?|message_content|type|text|function|name|id"
            r"|tool_call(s|_id)?))+"
        ),
    ),
    "messages": _kept(f"{_MESSAGE_FIELDS} is_error", "id", "name toolName", _MESSAGE_WORDS),
}
"""Format → what stays of it; turncheck's own has rules of its own (``redaction``)."""
