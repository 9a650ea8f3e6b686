"""Cheap tracing of branches for atheris: its own calls C++ at each, at 0.3 µs; this appends a number to a list.

The instrumentation of atheris decides where the branches are. Comparisons are left alone: only libFuzzer's own mutator
would use them, and inputs are mutated by ``json_mutator``.
"""

import ctypes
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Final

from atheris import import_hook, instrument_bytecode

_MOST: Final = 255
"""What a counter of libFuzzer holds."""
_generated: Final = instrument_bytecode._generate_instruction


class _Trace(list[int]):
    """The branches taken, by number. Each instrumented function has it among its constants, which are compared."""

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]


_trace: Final = _Trace()
_numbers: Final = count()


class _Instrumentor(instrument_bytecode.Instrumentor):  # type: ignore[misc]
    def _generate_trace_branch_invocation(self, copyfrom_instruction: Any) -> Sequence[Any]:
        constants = self._get_const(_trace), self._get_const(next(_numbers))
        return [
            *(_generated("LOAD_CONST", at, copyfrom_instruction) for at in constants),
            _generated("LIST_APPEND", 1, copyfrom_instruction),
            _generated("POP_TOP", None, copyfrom_instruction),
        ]


def instrumented(package: str) -> AbstractContextManager[Any]:
    """Instrument what is imported of *package* within this context."""
    instrument_bytecode.Instrumentor = _Instrumentor
    found: AbstractContextManager[Any] = import_hook.HookManager(
        {package}, set(), enable_loader_override=True, trace_dataflow=False
    )
    return found


def begin() -> None:
    """Forget what was taken until now."""
    _trace.clear()


def end() -> Counter[int]:
    """Return which branches were taken since ``begin``, and how often."""
    taken = Counter(_trace)
    _trace.clear()
    return taken


class Counters:
    """The counters that libFuzzer reads after each input."""

    def __init__(self) -> None:
        """Register a counter per branch, and a number in place of its address, as a compiler's instrumentation does."""
        self._known: set[int] = set()
        size = next(_numbers)
        self._counters = (ctypes.c_uint8 * size)()
        self._places = (ctypes.c_size_t * (2 * size))(*(part for at in range(size) for part in (at + 1, 0)))
        library = ctypes.CDLL(sys.modules["atheris.core_with_libfuzzer"].__file__)
        for function, table in (("8bit_counters", self._counters), ("pcs", self._places)):
            begin = ctypes.addressof(table)
            getattr(library, f"__sanitizer_cov_{function}_init")(
                ctypes.c_void_p(begin), ctypes.c_void_p(begin + ctypes.sizeof(table))
            )

    def take(self, taken: Counter[int]) -> bool:
        """Tell libFuzzer which branches an input took, and how often; return whether any is new."""
        counters = self._counters
        for branch, times in taken.items():
            counters[branch] = times if times < _MOST else _MOST  # noqa: FURB136 - six times as fast as min
        known = self._known
        if taken.keys() <= known:
            return False
        known.update(taken)
        return True
