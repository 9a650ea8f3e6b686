"""The backend's frames: its outputs on the wire, in both dialects of call records (EF-2 to EF-4, EF-12)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from turncheck.model.declaration.vocabulary import Output

from ..provider.port import Http, Settings

Frame: TypeAlias = dict[str, Any]
_PHASE = "chat_iteration"
_REASONS: Final = {"end-turn": "stop", "tool-use": "tool_calls"}
"""The harness's names of finish reasons → the wire's; others are the same."""


@dataclass(frozen=True)
class Dialect:
    """A backend's dialect: where a call record has provider and model, and which optional fields are sent.

    ``numbered``: deltas have a ``seq``; ``tells_record``: ``llm_response`` has the record too.
    """

    records: Literal["nested", "top-level"] = "top-level"
    numbered: bool = False
    tells_record: bool = True


class Emission:
    """Makes the frames of one request after the other; records accumulate over a request's iterations.

    *body* returns the body of a request to the model that is sent now, and *now* the seconds since 1970. ``http`` is
    the head of the model's response, to be set before the response ends.
    """

    def __init__(
        self,
        dialect: Dialect,
        settings: Settings,
        body: Callable[[], Frame],
        now: Callable[[], float],
        http: Http,
    ) -> None:
        self._dialect, self._settings, self._body, self._now, self.http = dialect, settings, body, now, http
        self._named: Frame = {"provider": settings.provider, "model": settings.model}
        self._messages: list[Frame] = []  # of the last request
        self._begin()

    def frames(self, output: Output) -> Iterator[Frame]:
        """Yield the frames of *output*."""
        match output.name, output.arguments:
            case "accept", _:
                self._begin()
            case "llm-request", (iteration,):
                yield self._phase("llm_request", iteration) | self._named | {"request": self._body()}
            case "request", _:
                self._messages = self._body()["messages"]
            case "delta", (text,):
                self._content += text
                self._deltas += 1
                seq = {"seq": self._deltas} if self._dialect.numbered else {}
                yield {"type": "delta", "content": text} | seq
            case "call", (call, tool, arguments, _):
                function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
                self._calls.append({"id": call, "type": "function", "function": function})
                self._tools[call] = tool
            case "llm-response", (iteration, reason, usage):
                yield self._respond(iteration, reason, usage)
            case "message-complete", _:
                yield {
                    "type": "message_complete",
                    "role": "assistant",
                    "content": self._said,
                    "tool_calls": self._called,
                    "llmApiCalls": list(self._records),
                }
            case "tool-call-start", (call,):
                yield {"type": "tool_call_start", "id": call, "name": self._tools[call]}
            case "tool-call-result", (call, result, how):
                flag = {} if how == "done" else {"is_error": True}
                yield {"type": "tool_call_result", "id": call, "name": self._tools[call], "content": result} | flag
            case _:
                return

    def _begin(self) -> None:
        self._content = self._said = ""
        self._calls: list[Frame] = []
        self._called: list[Frame] = []
        self._records: list[Frame] = []
        self._tools: dict[str, str] = {}
        self._deltas = 0

    def _respond(self, iteration: int, reason: str | None, usage: Any) -> Frame:
        """Return the response's frame; later text and calls belong to the next response."""
        self._said, self._called, self._content, self._calls = self._content, self._calls, "", []
        response = {"content": self._said, "tool_calls": self._called, "usage": usage}
        reason = _REASONS.get(reason, reason) if reason else "tool_calls" if self._called else "stop"
        record = self._record({**response, "finish_reason": reason})
        self._records.append(record)
        frame = self._phase("llm_response", iteration) | {
            **self._named,
            "response": response,
            "httpHeaders": dict(self.http.headers),
            "httpStatus": self.http.status,
        }
        return frame | ({"llmApiCall": record} if self._dialect.tells_record else {})

    def _record(self, response: Frame) -> Frame:
        """Return a call's record: today's has the messages that were sent, the recommended one their number (EF-11)."""
        given = {"temperature": self._settings.temperature, "max_tokens": self._settings.max_tokens}
        given = {name: value for name, value in given.items() if value is not None}
        rest = {"response": response, "timestamp": self._timestamp()}
        if self._dialect.records == "nested":
            return {"request": {**self._named, "messages": self._messages, **given}, **rest}
        return {**self._named, "phase": _PHASE, "request": {"messages": len(self._messages), **given}, **rest}

    def _phase(self, kind: str, iteration: int) -> Frame:
        return {"type": kind, "phase": _PHASE, "iteration": iteration, "timestamp": self._timestamp()}

    def _timestamp(self) -> str:
        """Return the time as JavaScript's ``toISOString`` writes it."""
        return datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
