"""A ``Monitor`` that is fed blocks of lines finds, and counts, what one that is fed the lines finds."""

from itertools import pairwise

import pytest
from fuzz.edited_logs import FRAMES, MEASURED, NAMES, bases, logs, measured
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turncheck.conformance.check.monitor import Monitor

SETTINGS = settings(
    max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def assert_same(name: str, lines: list[bytes], cuts: list[int]) -> None:
    """Feed the lines one by one, and in blocks between the *cuts*, of which each fourth is fed line by line too."""
    alone, together = Monitor(format_name=name), Monitor(format_name=name)
    for number, (begin, end) in enumerate(pairwise(sorted({0, *cuts, len(lines)}))):
        some = lines[begin:end]
        expected = [finding for line in some for finding in alone.feed(line)]
        if number % 4 == 3:
            found = [finding for line in some for finding in together.feed(line)]
        else:
            found = together.feed_all(b"".join(line + b"\n" for line in some))
        assert found == expected
        assert together.metrics() == alone.metrics()
    assert together.end(strict=True) == alone.end(strict=True)
    assert together.metrics() == alone.metrics()


@pytest.mark.parametrize("frame", ["lines", "events", "events with names"])
@pytest.mark.parametrize("name", MEASURED)
def test_a_good_log(name: str, frame: str) -> None:
    lines = b"".join(map(FRAMES[frame], measured(name, 200).splitlines())).split(b"\n")[:-1]
    assert_same(name, lines, [*range(0, len(lines), 37), 5, 6])


@pytest.mark.parametrize("name", NAMES)
def test_any_log(name: str) -> None:
    @SETTINGS
    @given(logs(bases(name)), st.lists(st.integers(0, 60), max_size=4))
    def same(data: bytes, cuts: list[int]) -> None:
        lines = data.split(b"\n")
        assert_same(name, lines, [cut for cut in cuts if cut < len(lines)])

    same()
