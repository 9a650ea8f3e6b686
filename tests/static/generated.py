"""Generated files in step with their sources: hot path, schemas, pictures. With --write they are made anew."""

import sys
from dataclasses import replace
from pathlib import Path

import msgspec

from turncheck.conformance.cli.group import main
from turncheck.conformance.report.counterexample_diagram import picture
from turncheck.conformance.report.lessons import Lesson
from turncheck.conformance.report.matrix import Matrix, to_markdown
from turncheck.conformance.schemas.json_schemas import FOLDER, schemas, text
from turncheck.conformance.verify.results import WordCounterexample
from turncheck.model.codegen.generate import LOOP, generate
from turncheck.model.rendering.svg import to_svg

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' own packages
sys.path.insert(0, str(Path(__file__).parents[1] / "teeth"))

from museum.page import page, recorded
from static.mutants import PAGE as MUTANTS
from static.mutants import page as mutants_page

ROOT = Path(__file__).parents[2]
README, MATRIX = ROOT / "README.md", ROOT / "docs" / "matrix" / "matrix.json"
FAILURE = ROOT / "docs" / "matrix" / "counterexamples" / "pi-0-87-1.calls-answered.json"
"""The failure that the readme shows: a call that its run never answers."""
BEGIN, END = "<!-- matrix -->\n", "<!-- /matrix -->\n"


def with_table(readme: str, matrix: bytes) -> str:
    """The readme with the table of the last matrix between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + to_markdown(msgspec.json.decode(matrix, type=Matrix)) + END + after


def failure(counterexample: bytes) -> str:
    """The picture of a counterexample file, with what was found as its title."""
    found = msgspec.json.decode(counterexample, type=WordCounterexample)
    drawn = picture(found.law, Lesson(fault=found.message, wrong=found))
    return to_svg(replace(drawn, title=f"{found.target}, {found.law}: {found.message}"))


def run() -> None:
    """Compare, or write; exits 1 where something drifted."""
    wanted = {LOOP: generate(), **{FOLDER / name: text(schema) for name, schema in schemas().items()}}
    wanted[README] = with_table(README.read_text(encoding="utf-8"), MATRIX.read_bytes())
    wanted[ROOT / "docs" / "museum.md"] = page(recorded())
    wanted[MUTANTS] = mutants_page()
    wanted[ROOT / "docs" / "pictures" / "failure.svg"] = failure(FAILURE.read_bytes())
    write = "--write" in sys.argv[1:]
    drifted = [path for path, content in wanted.items() if not path.exists() or path.read_text() != content]
    for path in drifted:
        if write:
            path.write_text(wanted[path])
        print(f"{path.relative_to(ROOT)}: {'written' if write else 'differs from its source'}")
    if drifted and not write:
        sys.exit("generated files drifted; run: make generate")
    main(["diagrams", "--out", str(ROOT / "diagrams"), *([] if write else ["--check"])])


if __name__ == "__main__":
    run()
