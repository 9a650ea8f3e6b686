"""Generate ``core/loop.py`` from the rows of ``request_cycle``: the hot path as readable, typed, committed Python.

A loop generated from the rows runs as fast as the best one written by hand (99 against 105 ns per event), and two to
three times as fast as a table interpreter or a ``match`` statement; see docs/performance.md. ``make generate`` writes
the file; tests/model/codegen/test_loop.py fails when it drifts. ``loop_template`` has the frame around the rows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..core.events import SYMBOLS
from ..declaration.machine import Machine
from ..machines.request_cycle import SPEC
from ..writing import write_file
from .loop_template import BUILT, CYCLES, FINISH, HEADER, MULTI_SESSION, SINGLE_SESSION, WITH_VIEWS
from .rows import Writer, chain

_TABLES: Final = ("while_active", "queue_fate")
_ABREAST: Final = 4
"""Names per line."""

LOOP: Final = Path(__file__).parents[1] / "core" / "loop.py"


def generate(spec: Machine = SPEC) -> str:
    """Return the text of ``loop.py``, for a machine of two states."""
    named = [symbol.structs for symbol in SYMBOLS if symbol.structs != SYMBOLS[-1].structs]  # the last needs no test
    imported = {
        "cycles": CYCLES,
        "events": sorted({struct.__name__ for group in named for struct in group} | {"Event"}),
    }
    text = HEADER.format(**{room: _indented([f"{name}," for name in names], 4) for room, names in imported.items()})
    numbers = [name for name, kind in spec.registers.items() if kind == "number"]
    for variant in (SINGLE_SESSION, MULTI_SESSION, WITH_VIEWS):
        writer = Writer(spec, variant)
        text += variant.frame.format(
            body=_indented(list(writer.loop()), 8),
            tables=_load(_TABLES)[0],
            load=_indented(_load([writer.flag, *spec.registers, *variant.own]), 4).strip(),
            store=_store([writer.flag, "kind", *numbers])[0],  # what is no object of its own
            views="\n    ".join(_load(BUILT)),
            store_views="\n    ".join(_store(BUILT)),
        )
    return text + FINISH.format(body=_indented(list(chain(Writer(spec, WITH_VIEWS).states("log-end"))), 4))


def _load(names: Sequence[str]) -> list[str]:
    """Return the lines that load a state's attributes into locals."""
    some = [names[start : start + _ABREAST] for start in range(0, len(names), _ABREAST)]
    return [f"{', '.join(part)} = {', '.join(f'state.{name}' for name in part)}" for part in some]


def _store(names: Sequence[str]) -> list[str]:
    """Return the lines that store locals in a state's attributes."""
    some = [names[start : start + _ABREAST] for start in range(0, len(names), _ABREAST)]
    return [f"{', '.join(f'state.{name}' for name in part)} = {', '.join(part)}" for part in some]


def _indented(lines: Sequence[str], width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in lines)


if __name__ == "__main__":
    write_file(LOOP, generate())
