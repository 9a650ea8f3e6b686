"""The JSON Schemas of every message and file, generated from the one declaration of each structure.

``make generate`` writes them beside this file; tests/static/generated.py fails when they drift.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from turncheck.adapters.protocol import messages as protocol
from turncheck.model.core.cycles import SessionProjection
from turncheck.model.core.decode import field_rules

from ..automata.learn.learned import Comparison, Conflict, Learned
from ..check.results import LogResult
from ..report.matrix import Matrix
from ..verify.kept.replay import Replay
from ..verify.outcome.results import Counterexample, FlowCounterexample, Result, WordCounterexample

FOLDER: Final = Path(__file__).parent
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_JSON: Final = {str: "string", bool: "boolean", list: "array"}


def schemas() -> Mapping[str, dict[str, Any]]:
    """File name → schema."""
    messages = [
        *(protocol.Hello, protocol.Reset, protocol.Apply, protocol.Run),
        *(protocol.Project, protocol.Feed, protocol.Collate, protocol.Stop),
    ]
    return {
        "log-event.json": _event(),
        "projection.json": _of("A session's projection, one line of `turncheck project --json`", SessionProjection),
        "check.json": _of("What `turncheck check --json` prints for one log", LogResult),
        "verify.json": _of("What `turncheck verify --json` prints", Result),
        "replay.json": _of("What `turncheck replay --json` prints", Replay),
        "learn.json": _any("What `turncheck learn --json` prints", [Learned, Comparison, Conflict]),
        "matrix.json": _of("What `turncheck matrix --json` prints", Matrix),
        "counterexample.json": _any(
            "A counterexample file, version 1", [Counterexample, WordCounterexample, FlowCounterexample]
        ),
        "protocol-message.json": _any("A message of the adapter protocol, version 1", messages),
        "protocol-answer.json": _any(
            "An answer of the adapter protocol, version 1", [protocol.HelloAnswer, protocol.Answer]
        ),
    }


def _of(title: str, struct: type) -> dict[str, Any]:
    return {"$schema": _DIALECT, "title": title, **msgspec.json.schema(struct)}


def _any(title: str, structs: Sequence[type]) -> dict[str, Any]:
    found, components = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    return {"$schema": _DIALECT, "title": title, "anyOf": list(found), "$defs": components}


def _event() -> dict[str, Any]:
    """Return the schema of the rules of RC-D5, by which events are judged; an observation is any object of its type."""
    rules = field_rules()
    return {
        "$schema": _DIALECT,
        "title": "An event of the log: one line",
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": sorted({name for name, *_ in rules})}},
        "oneOf": [
            {
                "title": " ".join(filter(None, (name, kind))),
                "properties": {
                    "type": {"const": name},
                    **({"kind": {"const": kind}} if kind else {}),
                    **{field: _field(allowed) for field, allowed in fields.items() if field != "kind"},
                },
                **_requirement(required, one_of),
            }
            for name, kind, fields, required, one_of in rules
        ],
    }


def _requirement(required: tuple[str, ...], one_of: tuple[str, ...]) -> dict[str, Any]:
    """Null counts as absent, for optional fields and in a choice."""
    wanted: dict[str, Any] = {"required": ["type", *required]}
    if required:
        wanted["not"] = {"anyOf": [{"properties": {name: {"type": "null"}}, "required": [name]} for name in required]}
    if one_of:
        there = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in one_of]
        wanted["oneOf"] = there
    return wanted


def _field(allowed: Any) -> dict[str, Any]:
    if isinstance(allowed, tuple):
        return {"enum": [*allowed, None]}
    return {"type": [_JSON[allowed], "null"]}


def text(schema: dict[str, Any]) -> str:
    """The file's text."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
