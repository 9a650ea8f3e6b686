"""The pytest plugin as its page shows it."""

import os
import re
import sys
from pathlib import Path

import pytest

import turncheck.conformance.verify.verification  # noqa: F401 - or each pytest in this process would import it anew
from turncheck.conformance.laws.registry import selected

pytest_plugins = ["pytester"]

LOG = '{"type": "user-message", "text": "hello"}\n'
END = '{"type": "run-stop", "reason": "completed"}\n'
TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "pytest.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
NULL = f"""
import sys
sys.path.insert(0, {str(TESTS / "adapters" / "kit")!r})
from null_runtime import NullRuntime as Adapter, serve
if __name__ == "__main__":
    serve(Adapter())
"""


@pytest.fixture
def app(pytester, monkeypatch):
    """The application of the documentation's examples."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    files = {
        "myapp/turns.py": "from projectors.plain import Plain\nproject = Plain().project\n",
        "myapp/adapter.py": NULL,
        "adapter.py": NULL,
        "logs/yesterday.jsonl": LOG + END,
    }
    for name, text in files.items():
        path = Path(pytester.path, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_the_documentation_shows_the_first_line(ran, app):
    ran(BLOCKS[0], "--turncheck-examples", "0").assert_outcomes(
        passed=23, skipped=3
    )  # it takes no chunks, and no sub-agents


def test_the_documentation_shows_variants(ran, app, pytester):
    varied = NULL.replace("null_runtime import NullRuntime as", "variant_runtime import InVariants as")
    Path(pytester.path, "myapp/adapter.py").write_text(varied)
    done = ran(BLOCKS[1], "--collect-only", "-q")
    done.stdout.fnmatch_lines(
        ["*::test_tasks[[]abort=task-run-ends-once[]]", "*::test_agent[[]abort=task-run-ends-once[]]"]
    )


def test_the_documentation_shows_the_fixtures(ran, app):
    ran(f"from myapp.turns import project\n{BLOCKS[2]}").assert_outcomes(passed=3)


def test_the_documentation_shows_an_async_runtime(ran, app):
    done = ran(BLOCKS[3], "--turncheck-examples", "0", "-k", "run-ends-once or calls-answered")
    done.assert_outcomes(passed=3, deselected=len(selected(["runtime"])) + 1 - 3)  # one is the evidence floor's
