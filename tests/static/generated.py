"""Generated files in step with their sources: hot path, schemas, diagrams. With --write they are made anew."""

import sys
from pathlib import Path

import msgspec

from turncheck.conformance.cli import main
from turncheck.conformance.matrix import Matrix, to_markdown
from turncheck.conformance.published import FOLDER, schemas, text
from turncheck.model.codegen import LOOP, generate

ROOT = Path(__file__).parents[2]
README, MATRIX = ROOT / "README.md", ROOT / "docs" / "matrix" / "matrix.json"
BEGIN, END = "<!-- matrix -->\n", "<!-- /matrix -->\n"


def with_table(readme: str, matrix: bytes) -> str:
    """The readme with the table of the last matrix between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + to_markdown(msgspec.json.decode(matrix, type=Matrix)) + END + after


def run() -> None:
    """Compare, or write; exits 1 where something drifted."""
    wanted = {LOOP: generate(), **{FOLDER / name: text(schema) for name, schema in schemas().items()}}
    wanted[README] = with_table(README.read_text(encoding="utf-8"), MATRIX.read_bytes())
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
