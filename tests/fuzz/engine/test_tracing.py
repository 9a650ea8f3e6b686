"""What is instrumented notes each branch that it takes, and does what it did before."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("atheris")  # only for Linux
from fuzz.engine import tracing

SOURCE = """
def sign(number):
    if number < 0:
        return "minus"
    for _ in range(number):
        pass
    try:
        return ("plus", 1 // number)[0]
    except ZeroDivisionError:
        return "none"
"""


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "sign_of.py").write_text(SOURCE, "ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    with tracing.instrumented("sign_of"):
        import sign_of  # type: ignore[import-not-found]
    yield sign_of
    del sys.modules["sign_of"]


def _taken(module: ModuleType, number: int) -> list[int]:
    tracing._trace.clear()
    module.sign(number)
    return list(tracing._trace)


def test_instrumented_code_gives_what_it_gave(traced: ModuleType) -> None:
    assert [traced.sign(number) for number in (-1, 0, 1)] == ["minus", "none", "plus"]


def test_other_branches_have_other_numbers(traced: ModuleType) -> None:
    ways = [set(_taken(traced, number)) for number in (-1, 0, 1)]
    assert all(one - other for one in ways for other in ways if one is not other)


def test_each_turn_of_a_loop_counts(traced: ModuleType) -> None:
    assert len(_taken(traced, 9)) - len(_taken(traced, 8)) == len(_taken(traced, 8)) - len(_taken(traced, 7)) > 0
