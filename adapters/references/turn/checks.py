"""The checks before anything runs: an inbound event's fields (TM-2.2), a call's decision and schema (TM-4.1)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator, ValidationError

from .memory import Told

REQUIRED: Final = ("turnId", "sessionId", "chatId", "traceId", "correlationId")
OPTIONAL: Final = ("idempotencyKey", "causationId")


def unfit(message: Told, longest: int | None) -> str | None:
    """Return the fault of an inbound event (TM-1.1), None if it has none; *longest* bounds its text in characters."""
    for name in REQUIRED:
        if not (isinstance(value := message.identity.get(name), str) and value):
            return f"{name} is no string with something in it"
    for name in OPTIONAL:
        if not isinstance(message.identity.get(name, ""), str):
            return f"{name} is no string"
    if not isinstance(message.text, str):
        return "text is no string"
    if longest is not None and len(message.text) > longest:
        return f"text has more than {longest:,} characters"
    return None


class Tools:
    """The tools of a session, by the schemas of their arguments."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """*tools* are ``{name, schema}``. Raises jsonschema.SchemaError where a schema is invalid."""
        self._validators = {tool["name"]: _validator(tool.get("schema", {})) for tool in tools}

    def refusal(self, call: Told) -> tuple[str, str] | None:
        """Return the failure class and the message of a refused call, None where it may run.

        A call runs only where the policy has allowed it in the step Decide.
        """
        if call.decision != "allow":
            return "policy_denied", f"the policy denies {call.tool}"
        validator = self._validators.get(call.tool or "")
        if validator is None:
            return "invalid_input", f"there is no tool {call.tool}"
        arguments = parsed(call.arguments)
        if not isinstance(arguments, dict):
            return "invalid_input", "the arguments are no JSON object"
        try:
            validator.validate(arguments)
        except ValidationError as error:
            return "invalid_input", f"{error.json_path}: {error.message}"
        return None


def parsed(arguments: Any) -> Any:
    """Return a call's arguments as JSON values; a text that is no JSON stays unchanged."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _validator(schema: Any) -> Any:  # its types are partly unknown
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
