"""Both type checkers must turn red on a planted error: a check that passes vacuously is worse than none."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "model" / "planted_error.py"
ERROR = '"""Planted."""\n\nNUMBER: int = "no number"\n'
BIN = Path(sys.executable).parent


def run() -> None:
    """Plant an error in the model, and see that each checker finds it there."""
    if PLANTED.exists():
        sys.exit(f"{PLANTED} is in the way")
    PLANTED.write_text(ERROR)
    try:
        for checker in ("mypy", "basedpyright"):
            done = subprocess.run([BIN / checker], cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode == 0 or PLANTED.name not in done.stdout:
                sys.exit(f"{checker} did not see the planted error:\n{done.stdout[-2000:]}")
    finally:
        PLANTED.unlink()
    print("both type checkers see a planted error")


if __name__ == "__main__":
    run()
