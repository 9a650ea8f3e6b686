"""Both type checkers must turn red on planted errors: a check that passes vacuously is worse than none.

One error is a wrong type. The others are raw text on its way to standard output: it is no ``Printable``, and no
template. A template is a literal, which basedpyright knows (PEP 675) and mypy does not.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "conformance" / "planted_error.py"
HEAD = '''"""Planted."""

import sys

from turncheck.conformance.cli.printing.output import document, echo
from turncheck.model.rendering.printable import fill

'''
BOTH = ("basedpyright", "mypy")
ERRORS = {
    'NUMBER: int = "no number"': BOTH,
    "echo(sys.argv[0])": BOTH,
    'echo(f"{sys.argv[0]} is raw")': BOTH,
    'echo(fill("{}", sys.argv[0]) + sys.argv[0])': BOTH,
    "document(sys.argv[0])": BOTH,
    'echo(fill(f"{sys.argv[0]} is raw"))': ("basedpyright",),
}
"""A line → the checkers that must see the error in it."""
BIN = Path(sys.executable).parent


def run() -> None:
    """Plant the errors, and see that each checker finds those that it can."""
    if PLANTED.exists():
        sys.exit(f"{PLANTED} is in the way")
    PLANTED.write_text(HEAD + "".join(f"{error}\n" for error in ERRORS))
    try:
        for checker in BOTH:
            done = subprocess.run([BIN / checker], cwd=ROOT, capture_output=True, text=True, check=False)
            seen = {int(number) for number in re.findall(rf"{PLANTED.name}:(\d+):.*error", done.stdout)}
            for number, (error, checkers) in enumerate(ERRORS.items(), HEAD.count("\n") + 1):
                if checker in checkers and number not in seen:
                    sys.exit(f"{checker} did not see the planted error {error}:\n{done.stdout[-2000:]}")
    finally:
        PLANTED.unlink()
    print("the type checkers see the planted errors")


if __name__ == "__main__":
    run()
