"""Every tutorial works when pasted: its files are written, its commands run, and the output is the one it shows.

A block of a tutorial is a ``console``, whose lines after ``$`` are commands and the others what they print, or a file,
which the paragraph before it names last. ``…`` stands for whatever comes there.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from turncheck.adapters.protocol.processes.orphans import MARK, Family, adopt_orphans, sweep

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
IN_A_CHECKOUT = {"write-a-law"}
"""Pages whose commands are run in the project's root; here, in a copy of its sources."""
PATIENCE = 300  # seconds for a page; the longest took 42 on two cores that twelve processes shared
_WHATEVER, _ANYTHING = r"(?s:.*\n)?", ".*"
"""A line that is an ellipsis stands for lines, or for none; one within a line for the rest of it."""
END = "---- end of a command ----"
PORTS = ("8000", "8790")
"""Ports that a page names, each replaced by one that is free."""


@dataclass(frozen=True)
class Block:
    """A fenced block: of the console, or of the file called *name*."""

    line: int
    name: str | None
    text: str


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page. Raises ValueError for one that is no console, and that no paragraph names."""
    named: str | None = None
    for token in MarkdownIt().parse(page):
        assert token.map or token.type.endswith("_close")
        if token.type == "inline":
            codes = [one.content for one in token.children or () if one.type == "code_inline"]
            named = codes[-1] if codes and token.content.endswith(":") else None
        elif token.type == "fence" and token.map:
            console = token.info == "console"
            if not console and named is None:
                raise ValueError(f"line {token.map[0] + 1}: a block that is neither a console nor a named file")
            yield Block(token.map[0] + 2, None if console else named, token.content)
            named = None


@dataclass(frozen=True)
class Command:
    """A command, the line of its page, and what the page says that it prints."""

    line: int
    text: str
    shown: str


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block of the console."""
    starts = [match.start() for match in re.finditer(r"^\$ ", block.text, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(block.text)], strict=True):
        command, _, shown = block.text[start + 2 : end].partition("\n")
        yield Command(block.line + block.text.count("\n", 0, start), command, shown)


def fits(shown: str, printed: str) -> bool:
    """Return whether the shown output equals the printed one, except for blanks at the ends of lines."""
    lines = shown.strip("\n").splitlines()
    pattern = "".join(
        _WHATEVER if line == "…" else f"{_ANYTHING.join(map(re.escape, line.split('…')))}\n" for line in lines
    )
    came = re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE).strip("\n")
    return re.fullmatch(pattern, f"{came}\n" if came else "") is not None


def script(page: list[Block], folder: Path) -> str:
    """Return the script for bash: the blocks in their order, with a mark after the output of each command."""
    lines = ["exec 2>&1", f"mark() {{ local code=$?; echo '{END}'; return $code; }}"]
    for number, block in enumerate(page):
        if block.name is None:
            lines += [line for command in commands(block) for line in (command.text, "mark")]
        else:
            source = folder / str(number)
            source.write_text(block.text, encoding="utf-8")
            lines += [f"mkdir -p $(dirname '{block.name}')", f"cp {source} '{block.name}'"]
    return "\n".join(lines) + "\n"


def checkout(folder: Path) -> None:
    """Put the sources into *folder*, where they come before the installed ones (PYTHONPATH)."""
    for name in ("model", "adapters", "conformance", ".src"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)


def differences(text: str, folder: Path, *, in_a_checkout: bool = False) -> list[str]:
    """Run a page in an empty folder below *folder*; return where the printed output differs from the shown one."""
    for port in PORTS:
        text = re.sub(rf"\b{port}\b", str(free_port()), text)
    sources, work = folder / "sources", folder / "work"
    sources.mkdir()
    work.mkdir()
    if in_a_checkout:
        checkout(work)
    page = list(blocks(text))
    (sources / "script").write_text(script(page, sources), encoding="utf-8")
    printed = run(sources / "script", work).split(f"{END}\n")
    told = [command for block in page if block.name is None for command in commands(block)]
    return [
        f"line {command.line}: $ {command.text}\n--- shown\n{command.shown}\n--- printed\n{came}"
        for command, came in zip(told, [*printed, *[""] * len(told)], strict=False)
        if not fits(command.shown, came)
    ]


def run(path: Path, folder: Path) -> str:
    """What the script prints; nothing that it started is left."""
    adopt_orphans()
    mark = f"tutorial.{path}"
    binaries = Path(sys.executable).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COVERAGE_"))},
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        MARK: mark,
        "PYTHONPATH": str(folder / ".src"),  # in a checkout alone there is such a folder
    }
    shell = ["bash", str(path)]
    with subprocess.Popen(
        shell, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            return process.communicate(timeout=PATIENCE)[0].decode()
        finally:
            sweep(Family(process.pid, mark))


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize("path", sorted(TUTORIALS.glob("*.md")), ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(path, tmp_path):
    found = differences(path.read_text("utf-8"), tmp_path, in_a_checkout=path.stem in IN_A_CHECKOUT)
    assert found == [], "\n".join(found)


def test_a_command_that_prints_something_else_is_found(tmp_path):
    page = "```console\n$ echo one\none\n$ echo two\nthree\n```\n"
    assert differences(page, tmp_path) == ["line 4: $ echo two\n--- shown\nthree\n\n--- printed\ntwo\n"]


def test_a_command_that_never_ran_is_found(tmp_path):
    page = "```console\n$ kill -KILL $$\n$ echo one\none\n```\n"
    assert differences(page, tmp_path) == ["line 3: $ echo one\n--- shown\none\n\n--- printed\n"]


def test_an_ellipsis_stands_for_lines_and_for_the_rest_of_one(tmp_path):
    page = "```console\n$ seq 4\n1\n…\n4\n$ echo $((6 * 7)) things\n… things\n```\n"
    assert differences(page, tmp_path) == []


def test_a_block_that_a_paragraph_names_is_a_file(tmp_path):
    page = "Save it in `notes` as `a/b.txt`:\n\n```text\nhello\n```\n\n```console\n$ cat a/b.txt\nhello\n```\n"
    assert differences(page, tmp_path) == []


def test_a_block_without_a_name_is_refused(tmp_path):
    with pytest.raises(ValueError, match="line 3: a block that is neither"):
        differences("No name.\n\n```text\nhello\n```\n", tmp_path)


def test_what_a_page_leaves_running_is_ended(tmp_path):
    page = "```console\n$ setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid\n```\n"
    assert differences(page, tmp_path) == []
    assert not Path(f"/proc/{(tmp_path / 'work' / 'pid').read_text().strip()}").exists()


def test_an_ellipsis_within_a_line_ends_with_it(tmp_path):
    page = "```console\n$ echo one; echo two\no…\n```\n"
    assert len(differences(page, tmp_path)) == 1
