"""The protocol's validators, asked about streams, and what of their complaints is explained in the docs."""

import json
import subprocess
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ag_ui_validate import create_validator

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.conformance.check.judge import check

from .streams import Stream

FOLDER: Final = Path(__file__).parent
KNOWN: Final = frozenset(FORMATS["ag-ui"].mapper().handlers)  # type: ignore[attr-defined]

Complaint = tuple[str, int, str]
"""Rule, position (-1: of the whole stream) and text."""


class Verifier:
    """``verifyEvents`` in one long-lived Node."""

    def __enter__(self) -> Self:
        command = ["node", "verify.mjs"]
        self._node = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        assert self._node.stdout is not None
        self._node.stdout.close()
        self._node.wait()

    def __call__(self, stream: Stream) -> list[Complaint]:
        """The first rejection, if any."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps(stream) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        return [] if answer is None else [("verifyEvents", answer["at"], answer["why"])]


def validate(stream: Stream) -> list[Complaint]:
    """The errors of ag-ui-validate."""
    validator = create_validator()
    for event in stream:
        validator.feed(event)
    validator.finalize()
    report = validator.report()
    assert not report.internal_errors
    return [(found.rule, found.event_index, found.message) for found in report.diagnostics if found.severity == "error"]


def ours(stream: Stream) -> list[tuple[str, int]]:
    """The findings of ``check --format ag-ui``: law and position."""
    log = b"".join(json.dumps(event).encode() + b"\n" for event in stream)
    return [(found.law, found.at) for found in check("log", BytesIO(log), format_name="ag-ui").findings]


def _unknown(stream: Stream, complaint: Complaint) -> bool:
    return stream[complaint[1]]["type"] not in KNOWN


def _resumed(stream: Stream, complaint: Complaint) -> bool:
    """The result may answer a call of an earlier run: it had one that ended well, or lies before the log."""
    at = complaint[1]
    call = stream[at].get("toolCallId")
    before = [event["type"] for event in stream[:at]]
    begun = max((place for place, name in enumerate(before) if name == "RUN_STARTED"), default=0)
    if any(
        event["type"] in ("TOOL_CALL_START", "TOOL_CALL_CHUNK") and event.get("toolCallId") == call
        for event in stream[:begun]
    ):
        return True
    output = ("TEXT_MESSAGE_C", "TOOL_CALL_S", "TOOL_CALL_C", "REASONING_MESSAGE_C", "THINKING_TEXT_MESSAGE_C")
    return not any(name.startswith(output) for name in before) and "RUN_FINISHED" not in before


def _amid_chunks(stream: Stream, complaint: Complaint) -> bool:
    at = complaint[1]
    kind = stream[at]["type"]
    amid = {"RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED"}
    before = [event["type"] for event in stream[:at]]
    while before and before[-1] in amid:
        before.pop()
    return kind.endswith("_CHUNK") and before[-1:] == [kind] and stream[at - 1]["type"] in amid


EXPLAINED: Final[Mapping[str, Callable[[Stream, Complaint], bool]]] = {
    "AGUI001": lambda stream, complaint: stream[complaint[1]]["type"] == "RUN_ERROR" or _unknown(stream, complaint),
    "AGUI104": _amid_chunks,
    "AGUI204": lambda _stream, _complaint: True,
    "AGUI207": _resumed,
    "AGUI302": lambda _stream, _complaint: True,
    "AGUI503": lambda _stream, _complaint: True,
    "AGUI504": lambda stream, complaint: (
        _amid_chunks(stream, complaint) or "'content' must be a string, got array" in complaint[2]
    ),
    "verifyEvents": _unknown,
}
"""Rule → whether a complaint of it is one of those that docs/registry/formats.md explains."""


def missed(stream: Stream, complaints: list[Complaint]) -> Complaint | None:
    """The first complaint that is not explained, if ``check`` finds nothing at it or before it; None where it does.

    Behind a defect the readers' states differ, so that one may complain again where another does not.
    """
    found = {position for _, position in ours(stream)}
    for complaint in sorted(complaints, key=lambda one: one[1]):
        rule, at, _ = complaint
        if rule in EXPLAINED and EXPLAINED[rule](stream, complaint):
            continue
        return None if any(at < 0 or position <= at for position in found) else complaint
    return None


def shortest(stream: Stream, fails: Callable[[Stream], bool]) -> Stream:
    """Drop events while it still fails."""
    for at in reversed(range(len(stream))):
        shorter = stream[:at] + stream[at + 1 :]
        if shorter and fails(shorter):
            stream = shorter
    return stream
