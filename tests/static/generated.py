"""Generated files in step with their sources: hot path, schemas, diagrams. With --write they are made anew."""

import sys
from pathlib import Path

from turncheck.conformance.cli import main
from turncheck.conformance.published import FOLDER, schemas, text
from turncheck.model.codegen import LOOP, generate

ROOT = Path(__file__).parents[2]


def run() -> None:
    """Compare, or write; exits 1 where something drifted."""
    wanted = {LOOP: generate(), **{FOLDER / name: text(schema) for name, schema in schemas().items()}}
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
