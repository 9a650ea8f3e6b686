"""Benchmarks: ratios to the yardstick stand in ``extra_info``. They assert results, never times."""

import pytest

from . import measure, synthetic
from .measure import ROWS, Row

SIZES = (10_000, 100_000, 1_000_000)


@pytest.mark.parametrize("events", SIZES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_ratio_to_decoding(benchmark, row: Row, events: int) -> None:
    if (row.filler or row.file) and events == SIZES[-1]:
        pytest.skip("a log of up to a gigabyte and more")
    repetitions = 11 if events < SIZES[-1] else 3
    measured = measure.ratio(row, events, repetitions)
    _, data = row.logs(events)
    result = benchmark.pedantic(row.subject, args=(data,), rounds=3)
    benchmark.extra_info.update(
        ratio=round(measured.ratio, 3), low=round(measured.low, 3), high=round(measured.high, 3), target=row.target
    )
    assert result


def test_driving_transitions(benchmark) -> None:
    row = Row("transitions", measure.by_transitions, None, None)
    measured = measure.ratio(row, 10_000, 3)
    data = synthetic.log(10_000)
    projection = benchmark.pedantic(row.subject, args=(data,), rounds=1)
    benchmark.extra_info.update(ratio=round(measured.ratio, 1))
    assert projection.cycles
