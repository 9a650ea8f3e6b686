"""What references do without, by their imports: the pure core input and output, the turn databases and brokers."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CORE = (
    *(ROOT / "model" / "declaration").glob("*.py"),
    *(ROOT / "model" / "machines" / f"{name}.py" for name in ("conversation", "chat_log")),
    ROOT / "adapters" / "references" / "conversation" / "core.py",
)
PURE = {"collections", "dataclasses", "functools", "itertools", "msgspec", "re", "typing"}
TURN = (*(ROOT / "adapters" / "references" / "turn").glob("*.py"),)
FILES = {"filelock", "fnmatch", "json", "jsonschema", "os", "pathlib", "urllib"}
"""Beside the pure ones: local files, and what checks and names them."""
DOES = {"open", "print", "input", "exec", "eval", "__import__"}


def imported(paths):
    """The packages from elsewhere that files import."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name.partition(".")[0] for one in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield str(node.module).partition(".")[0]


def test_the_core_of_a_conversation_imports_nothing_that_reads_or_writes():
    """BED-001a."""
    assert set(imported(CORE)) - PURE - {"turncheck"} == set()


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_the_core_of_a_conversation_calls_nothing_that_reads_or_writes(path):
    """BED-001a."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called & DOES == set()


def test_the_turn_imports_no_database_and_no_broker():
    """TM-7.2."""
    assert {path.name for path in TURN} > {"journal.py", "session.py"}
    assert set(imported(TURN)) - PURE - FILES - {"turncheck"} == set()
