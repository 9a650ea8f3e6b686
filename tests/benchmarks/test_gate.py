"""The gate's decision on given figures: no clock is read here."""

import json

import pytest

from . import gate
from .gate import BASELINE, Interval, compared, interval, read, slower, written
from .measure import ROWS

COMMITTED = Interval(2.0, 1.9, 2.1)


def shifted(factor):
    return Interval(2.0 * factor, 1.9 * factor, 2.1 * factor)


def test_a_row_as_fast_as_committed_passes():
    assert not slower(COMMITTED, COMMITTED)


def test_an_interval_that_reaches_into_the_tolerance_passes():
    assert not slower(Interval(3.0, COMMITTED.high * gate.TOLERANCE, 4.0), COMMITTED)


def test_an_interval_wholly_above_the_tolerance_is_slower():
    assert slower(Interval(3.0, COMMITTED.high * gate.TOLERANCE + 0.01, 4.0), COMMITTED)


def test_a_row_half_as_fast_again_is_slower():
    assert slower(shifted(1.5), COMMITTED)


def test_a_row_that_became_faster_passes():
    assert not slower(shifted(0.5), COMMITTED)


def test_the_interval_leaves_out_three_ratios_at_either_end():
    assert interval([float(ratio) for ratio in (*range(15, 8, -1), *range(1, 9))]) == Interval(8.0, 4.0, 12.0)


def test_a_row_that_is_slower_is_named_with_both_intervals():
    (line,) = compared({"a": shifted(1.5), "b": COMMITTED}, {"a": COMMITTED, "b": COMMITTED})
    assert line == "a: 3.00 (2.85 to 3.15), committed 2.00 (1.90 to 2.10): above it by more than 1.15"


@pytest.mark.parametrize(("now", "committed"), [({"a": COMMITTED}, {}), ({}, {"a": COMMITTED})])
def test_a_row_without_its_other_half_fails(now, committed):
    assert [line.split(":")[0] for line in compared(now, committed)] == ["a"]


def test_what_is_written_is_what_is_read():
    assert read(written({"a": COMMITTED}, 0.3)) == {"a": COMMITTED}


def test_the_committed_baseline_has_every_row():
    assert [*read(BASELINE.read_text("utf-8"))] == [row.name for row in ROWS]


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"rows": {"a": {}}})])
def test_a_baseline_that_cannot_be_read_exits_2(tmp_path, monkeypatch, capsys, text):
    path = tmp_path / "baseline.json"
    path.write_text(text)
    monkeypatch.setattr(gate, "BASELINE", path)
    assert gate.main([]) == 2
    assert "baseline.json cannot be read" in capsys.readouterr().err


class Fake:
    """Rows that are measured without a clock."""

    ratio = 2.0

    @staticmethod
    def pairs(row, events, repetitions):
        return [(1.0, Fake.ratio)] * repetitions


@pytest.mark.parametrize(("ratio", "code"), [(2.0, 0), (4.0, 1)])
def test_the_gate_exits_1_when_a_row_is_slower_than_it_was(tmp_path, monkeypatch, ratio, code):
    monkeypatch.setattr(gate, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(gate, "measure", Fake)
    monkeypatch.setattr(gate, "load_a_core", lambda: 0.5)
    assert gate.main(["--update"]) == 0
    monkeypatch.setattr(Fake, "ratio", ratio)
    assert gate.main([]) == code


def test_a_busy_machine_judges_nothing(monkeypatch, capsys):
    monkeypatch.setattr(gate, "load_a_core", lambda: gate.BUSY + 0.1)
    assert gate.main([]) == 2
    assert "the machine is busy (load 2.6 a core, 2.5 at most)" in capsys.readouterr().err
