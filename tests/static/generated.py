"""Generated files in step with their sources: hot path, schemas, pictures. With --write they are made anew."""

import sys
from dataclasses import replace
from pathlib import Path

import msgspec

from turncheck.adapters.logs.fast import generate as fast
from turncheck.conformance.cli.group import main
from turncheck.conformance.laws.clauses import BROKEN
from turncheck.conformance.report.counterexample_diagram import picture
from turncheck.conformance.report.lessons import Lesson
from turncheck.conformance.schemas.json_schemas import FOLDER, schemas, text
from turncheck.conformance.verify.outcome.results import WordCounterexample
from turncheck.model.codegen.generate import LOOP, generate
from turncheck.model.rendering.svg import to_svg

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' own packages
sys.path.insert(0, str(Path(__file__).parents[1] / "teeth"))

from broken.page import PAGE as CLAUSES_BROKEN
from broken.page import page as broken_page
from museum.page import page, recorded
from static.broken_clauses import table
from static.mutants import PAGE as MUTANTS
from static.mutants import page as mutants_page
from static.references_page import PAGE as REFERENCES_PAGE
from static.references_page import page as references_page
from static.sources_page import PAGE as SOURCES_PAGE
from static.sources_page import page as sources_page
from static.theorems import PAGE as THEOREMS
from static.theorems import page as theorems_page

ROOT = Path(__file__).parents[2]
FAILURE = ROOT / "docs" / "matrix" / "counterexamples" / "pi-0-87-1.calls-answered.json"
"""The failure that the README shows: a call that its run never answers."""


def failure(counterexample: bytes) -> str:
    """The picture of a counterexample file, with what was found as its title."""
    found = msgspec.json.decode(counterexample, type=WordCounterexample)
    drawn = picture(found.law, Lesson(fault=found.message, wrong=found))
    return to_svg(replace(drawn, title=f"{found.target}, {found.law}: {found.message}"))


def run() -> None:
    """Compare, or write; exits 1 where something drifted."""
    wanted = {
        LOOP: generate(),
        **fast.generate(),
        **{FOLDER / name: text(schema) for name, schema in schemas().items()},
    }
    wanted[ROOT / "docs" / "museum.md"] = page(recorded())
    wanted[MUTANTS] = mutants_page()
    wanted[REFERENCES_PAGE] = references_page()
    wanted[SOURCES_PAGE] = sources_page()
    wanted[BROKEN] = table()
    wanted[THEOREMS] = theorems_page()
    wanted[CLAUSES_BROKEN] = broken_page()
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
