"""The counterexample files of a run: written, and named in its result."""

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

from msgspec.structs import replace

from turncheck.model.rendering.printable import fill

from ..verify.outcome.counterexample_files import files_of, write
from ..verify.outcome.results import BREAKS, CauseResult, Counterexamples, LawResult, Result
from .printing.output import echo, notice


def saved(
    result: Result,
    found: Counterexamples,
    folder: Path,
    named: Callable[[Path], str] = str,
    *,
    whole: bool = False,
    keep: Collection[Path] = (),
) -> Result:
    """Write the counterexamples to *folder*, and return the result with their files, as *named* names them.

    One that cannot be written is named on standard error. With *whole*, a run that was not cut also removes files of
    earlier counterexamples: those of laws that pass now, and those with numbers that no counterexample has any more,
    but none of *keep*.
    """
    files: dict[tuple[str, int], str] = {}
    written: set[Path] = set()
    for law, every in found.every.items():
        for number, one in enumerate(every, 1):
            try:
                path = write(one, folder, number)
                files[law, number] = named(path)
                written.add(path)
            except OSError as error:
                why = f"to {error.filename}: {error.strerror}"
                echo(fill("the counterexample of {} cannot be written {}", law, why), err=True)

    if whole and result.cut is None:
        _remove(result, written | {*keep}, folder)
    crash = result.crash
    if crash is not None and found.crash is not None:
        try:
            crash = replace(crash, counterexample=named(write(found.crash, folder)))
        except OSError as error:
            echo(fill("the case on which the target breaks cannot be written: {}", error.strerror), err=True)

    def law_with(law: LawResult) -> LawResult:
        others = tuple(file for (name, number), file in files.items() if name == law.law and number > 1)
        return replace(law, counterexample=files.get((law.law, 1)), others=others)

    def cause_with(cause: CauseResult) -> CauseResult:
        failures = (replace(one, counterexample=files.get((one.law, one.number))) for one in cause.failures)
        return replace(cause, failures=tuple(failures))

    laws, causes = tuple(map(law_with, result.laws)), tuple(map(cause_with, result.causes))
    return replace(result, laws=laws, causes=causes, crash=crash)


def _remove(result: Result, written: set[Path], folder: Path) -> None:
    """Remove the counterexamples of this target in *folder* that the run shows to be mended, and say which."""
    judged = [law for law in result.laws if law.verdict in {"pass", "fail"}]
    names = [
        law.law for law in judged if law.verdict == "pass" or any(one.match(f"*.{law.law}.json") for one in written)
    ]
    for path in [path for name in [*names, BREAKS] for path in files_of(result.target, name, folder)]:
        if path not in written:
            with contextlib.suppress(OSError):
                path.unlink()
                notice(f"removed {path}: it does not fail any more")
