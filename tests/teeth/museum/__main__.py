"""Check every exhibit against every law, and print the findings; ``--write`` records them too.

    make museum

Exits 1 if the findings on an exhibit differ from its label or from the record, or its mended variant does not pass.
"""

import sys
from concurrent.futures import ProcessPoolExecutor

import msgspec

from .page import FOUND, Found, recorded
from .registry import EXHIBITS
from .showing import LONGEST, found, objections


def shown(name: str) -> tuple[Found, dict[str, str]]:
    """Return the findings on an exhibit, and the objections to its mended variant."""
    return found(name), objections(name)


def wrong(name: str, what: Found, against: dict[str, str], known: dict[str, Found]) -> list[str]:
    """Return the deviations from the label and the record, in sentences."""
    expected = EXHIBITS[name].law
    said = []
    if what.laws[:1] != (expected,):
        said.append(f"the first law that it breaks is {what.laws[:1]}, and its label says {expected}")
    if len(what.sequence) > LONGEST:
        said.append(f"the shortest sequence has {len(what.sequence)} stimuli, and {LONGEST} are allowed")
    if against:
        said.append(f"mended, it does not pass: {against}")
    if known and known.get(name) != what:
        said.append(f"{FOUND.name} says {known.get(name)}; write it anew with --write")
    return said


def run() -> None:
    """Print a line for each exhibit when it is done."""
    write = "--write" in sys.argv[1:]
    known = {} if write else recorded()
    everything: dict[str, Found] = {}
    objected = 0
    with ProcessPoolExecutor() as pool:
        for name, (what, against) in zip(EXHIBITS, pool.map(shown, EXHIBITS), strict=True):
            everything[name] = what
            said = wrong(name, what, against, known)
            objected += bool(said)
            print(
                f"{'✗' if said else '✓'} {name:44} {EXHIBITS[name].reference:44} {(what.laws or ('none',))[0]:28}"
                f" {' · '.join(what.sequence)}",
                *said,
                sep="\n    ",
                flush=True,
            )
    if write:
        FOUND.write_bytes(msgspec.json.format(msgspec.json.encode(everything), indent=2) + b"\n")
    print(f"{len(everything) - objected} of {len(everything)} caught as their labels say, and passed when mended")
    if objected:
        sys.exit(1)


if __name__ == "__main__":
    run()
