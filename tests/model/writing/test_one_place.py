"""Files are written in one place of the product."""

import ast
import re
from pathlib import Path

import pytest

from turncheck.model import writing

HOUSE = Path(writing.__file__).parents[1]
WRITERS = {
    "model/writing.py": "it is the one place",
    "adapters/references/turn/files.py": "the files of a reference runtime: what a crash leaves of them is its subject",
    "adapters/references/interaction/journal.py": "a reference's journal: each stimulus is appended",
    "conformance/cli/failures.py": "a closed standard stream, opened as the empty device",
    "adapters/targets/environments.py": "a lock file, and a folder that its marker makes whole",
}
METHODS = {"write_text", "write_bytes", "touch", "copy2", "copyfile", "copyfileobj", "NamedTemporaryFile", "mkstemp"}


def modules():
    """Yield the product's modules, without those that run in other environments."""
    for room in ("model", "adapters", "conformance"):
        for path in (HOUSE / room).rglob("*.py"):
            if not {"runtimes", "templates"} & {*path.parts}:
                yield path


def writes(call):
    """Return whether a call writes a file by itself."""
    text, name = ast.unparse(call), ast.unparse(call.func)
    modes = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return (
        name.rpartition(".")[2] in METHODS
        or (name.rpartition(".")[2] == "open" and any(re.fullmatch(r"[rbt]*[wax+][wax+rbt]*", one) for one in modes))
        or (name == "os.open" and not re.search("devnull|O_RDONLY", text))
    )


@pytest.mark.parametrize(
    "call",
    [
        "path.write_text('')",
        "Path(a).open('wb')",
        "open(a, mode='x')",
        "os.open(a, os.O_WRONLY)",
        "shutil.copyfile(a, b)",
    ],
)
def test_a_call_that_writes_is_known(call):
    assert writes(ast.parse(call, mode="eval").body)


def test_files_are_written_in_one_place():
    calls = ((path, node) for path in modules() for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    found = {str(path.relative_to(HOUSE)) for path, node in calls if isinstance(node, ast.Call) and writes(node)}
    assert found == {*WRITERS}
