"""``turncheck diagrams``."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turncheck.conformance.cli.commands.diagrams import command
from turncheck.model.machines.registry import MACHINES
from turncheck.model.rendering.stories.paths import PATHS

COMMITTED = Path(__file__).parents[3] / "diagrams"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def drawn(tmp_path):
    """A copy of the committed pictures."""
    return Path(shutil.copytree(COMMITTED, tmp_path / "diagrams"))


def test_the_committed_pictures_are_in_step():
    """The committed pictures are those that the sources draw."""
    result = run("--check", "--out", COMMITTED)
    assert (result.exit_code, result.output) == (0, "")


def test_all_formats_of_all_pictures_are_written(tmp_path):
    """The folder is made; a log in it would be drawn too."""
    assert run("--out", tmp_path / "new").exit_code == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        *(f"{machine}{end}" for machine in MACHINES for end in (".dot", ".mmd", ".svg")),
        *(f"turn_{part}{end}" for part in ("begin", "work", "end", "recovery") for end in (".dot", ".svg")),
        *(
            f"interaction_{part}{end}"
            for part in ("run", "decisions", "compaction", "clients")
            for end in (".dot", ".svg")
        ),
        *(f"{machine}_sequence{end}" for machine in ("turn", "engine", "event_flow") for end in (".mmd", ".svg")),
        *(f"{machine}_path{end}" for machine in PATHS for end in (".mmd", ".svg")),
    }


def test_a_second_run_writes_the_same_bytes(drawn):
    """Drawing over the committed pictures changes nothing."""
    before = {path.name: path.read_bytes() for path in drawn.iterdir()}
    assert run("--out", drawn).exit_code == 0
    assert {path.name: path.read_bytes() for path in drawn.iterdir()} == before


@pytest.mark.parametrize("name", ["request_cycle.dot", "request_cycle.svg", "sequence.mmd", "sequence.svg"])
def test_check_names_a_changed_file(drawn, name):
    """One changed byte fails the check, and only that file is named."""
    (drawn / name).write_bytes((drawn / name).read_bytes() + b" ")
    result = run("--check", "--out", drawn)
    assert result.exit_code == 1
    assert f"{drawn / name}: differs" in result.output
    assert result.output.count("differs") == 1


def test_check_names_a_missing_file(drawn):
    """A missing picture has drifted."""
    (drawn / "request_cycle.mmd").unlink()
    result = run("--check", "--out", drawn)
    assert (result.exit_code, "request_cycle.mmd: is missing" in result.output) == (1, True)


def test_check_names_the_picture_of_a_changed_log(drawn):
    """The sequence picture is compared with its log."""
    log = drawn / "sequence.jsonl"
    log.write_text(log.read_text("utf-8").replace("Yes.", "No."), "utf-8")
    result = run("--check", "--out", drawn)
    assert (result.exit_code, result.output.count("differs")) == (1, 2)


def test_check_writes_nothing(tmp_path):
    """Not even the folder."""
    assert run("--check", "--out", tmp_path / "none").exit_code == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("name", "end"), [("dot", ".dot"), ("mermaid", ".mmd"), ("svg", ".svg")])
def test_one_machine_in_one_format(tmp_path, name, end):
    """MACHINE and --format choose."""
    assert run("collation", "--format", name, "--out", tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"collation{end}"]


def test_an_unknown_machine_is_refused_with_the_known_ones(tmp_path):
    """The message teaches the names."""
    result = run("nonesuch", "--out", tmp_path)
    assert result.exit_code == 2
    assert "there are: request_cycle" in result.output


@pytest.mark.parametrize("text", ["", "not json\n", '{"type": "native"}\n'])
def test_a_log_without_a_cycle_is_refused(tmp_path, text):
    """A sequence picture needs a cycle."""
    (tmp_path / "sequence.jsonl").write_text(text)
    result = run("--out", tmp_path)
    assert result.exit_code != 0
    assert "sequence.jsonl" in result.output


@pytest.mark.parametrize(
    ("stops", "title", "drawn"),
    [(0, "Direct cycle, still open", 0), (1, "Direct cycle, completed", 1), (2, "Direct cycle, completed", 1)],
)
def test_the_first_cycle_of_the_log_is_drawn_to_its_end(tmp_path, stops, title, drawn):
    """A second cycle is not in the picture."""
    message, stop = '{"type": "user-message", "text": "go"}\n', '{"type": "run-stop", "reason": "completed"}\n'
    (tmp_path / "sequence.jsonl").write_text((message + stop) * stops or message)
    assert run("--format", "mermaid", "--out", tmp_path).exit_code == 0
    written = (tmp_path / "sequence.mmd").read_text("utf-8")
    assert (f"title: {title}" in written, written.count("run-stop")) == (True, drawn)
