"""The museum's page: each exhibit's report, the law that names it, and the shortest sequence that shows it."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from .exhibit import FOLDER
from .registry import EXHIBITS

FOUND: Final = FOLDER / "found.json"
"""The findings of ``make museum``: written with ``--write``, and compared with each later run."""
HEAD: Final = """# Museum

Defects that real agent runtimes had, as their public trackers report them: {exhibits}, of {runtimes} runtimes. Each is
a page of our own making in [tests/teeth/museum](../tests/teeth/museum), in the shape of the runtime it stands for,
written from the report alone: no code was copied, and what a report leaves open is our guess. Beside each stands a
`.patch` of one hunk that mends it.

`make museum` holds all of them to every law, as `turncheck verify` does by default. Each is caught, {laws} laws name
one first, and with its hunk applied each passes everything.

This page is generated.

| exhibit | report | caught first by | shortest sequence |
| --- | --- | --- | --- |
"""


class Found(msgspec.Struct, frozen=True):
    """The findings on an exhibit: the laws that it breaks, in their order, and the shortest word for the first."""

    laws: tuple[str, ...]
    sequence: tuple[str, ...]


def recorded() -> dict[str, Found]:
    """Return the findings as last recorded."""
    return msgspec.json.decode(FOUND.read_bytes(), type=dict[str, Found])


def page(found: Mapping[str, Found]) -> str:
    """Return the page, in Markdown."""
    runtimes = {exhibit.runtime for exhibit in EXHIBITS.values()}
    laws = {exhibit.law for exhibit in EXHIBITS.values()}
    head = HEAD.format(exhibits=len(EXHIBITS), runtimes=len(runtimes), laws=len(laws))
    return head + "".join(f"{line}\n" for line in _rows(found))


def _rows(found: Mapping[str, Found]) -> Iterator[str]:
    for name, exhibit in EXHIBITS.items():
        what = found.get(name, Found((), ()))
        version = f" {exhibit.version}" if exhibit.version else ""
        says = name.partition("/")[2].replace("_", " ")
        cells = (
            f"{exhibit.runtime}{version}: [{says}](../tests/teeth/museum/{name}.py)",
            f"[{exhibit.reference}]({exhibit.url}): {exhibit.title}",
            _laws(what.laws),
            " · ".join(what.sequence),
        )
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _laws(laws: tuple[str, ...]) -> str:
    first, *others = laws or ("none",)
    return f"`{first}`" + (f" and {len(others)} more" if others else "")
