"""What is said, thought, called and answered in all of these logs. Frozen as ``..synthetic`` is."""

from collections.abc import Mapping
from typing import Any

Line = Mapping[str, Any]

TIME = "2026-01-01T00:00:00.000Z"
ASK = "please look into the failing build of the parser, and mend it where it breaks"
SAID = "I will read the log first, and then the module that it names.\nThe test that fails is new. " * 3
THOUGHT = "The parser refuses an empty list. The test wants it to be read as one without elements. " * 4
_LINE = '    if token.kind == "bracket" and not self.items:  # an empty list\n\t\treturn Node("list", [])\n'
_LOG = "tests/test_parser.py::test_empty PASSED ✓ 0.01 s\n"
OUTPUTS = ["ok\n", _LINE * 4, _LOG * 30, _LINE * 24, "exit code 1\n" + _LOG * 8, _LINE * 60]
"""Outputs of tools: some 10, 360, 1,500, 2,200, 400 and 5,500 bytes, some of them not ASCII."""
TOOLS = ["Read", "Bash", "Edit"]


def output(n: int, call: int) -> str:
    """The output of a call of run *n*."""
    return OUTPUTS[(3 * n + call) % len(OUTPUTS)]


def identity(n: int, k: int) -> str:
    """An id in the form of a UUID."""
    return f"{n:08x}-0000-4000-8000-{k:012x}"
