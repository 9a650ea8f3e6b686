"""The figures of a declared machine: what they show, what they leave out, and that no line runs through a text."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from turncheck.model.declaration.vocabulary import Emit
from turncheck.model.machines.registry import PROOF_ROLES
from turncheck.model.rendering.graphviz_svg import FIGURE, to_svg
from turncheck.model.rendering.machine_figure import figures, to_dot

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [(machine, name) for machine, roles in PROOF_ROLES.items() for name in figures(roles)]
every_figure = pytest.mark.parametrize(("machine", "name"), NAMES, ids=[name for _, name in NAMES])
every_machine = pytest.mark.parametrize("machine", PROOF_ROLES)
Box = tuple[float, float, float, float]


@cache
def drawn(machine: str, name: str) -> str:
    roles = PROOF_ROLES[machine]
    return to_svg(to_dot(roles, figures(roles)[name]), FIGURE)


def dots(machine: str, *, registers: bool = False) -> str:
    """The DOT of all figures of a machine, its line breaks taken out."""
    roles = PROOF_ROLES[machine]
    text = "\n".join(to_dot(roles, part, registers=registers) for part in figures(roles).values())
    return re.sub(r"\\l[\s\N{NO-BREAK SPACE}]*", " ", text)


def groups(svg: str, kind: str) -> list[ET.Element]:
    return [one for one in ET.fromstring(svg).iter(f"{SVG}g") if kind in one.get("class", "").split()]


def boxes(svg: str) -> dict[str, Box]:
    """Each node's box, by its name."""
    found = {}
    for node in groups(svg, "node"):
        shape = next(one for one in node if one.get("points") or one.get("d") or one.get("cx"))
        if shape.get("cx"):
            x, y, width, height = (float(shape.get(key, "0")) for key in ("cx", "cy", "rx", "ry"))
            found[node.findtext(f"{SVG}title", "")] = (x - width, y - height, x + width, y + height)
            continue
        points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", shape.get("points") or shape.get("d") or "")
        xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
        found[node.findtext(f"{SVG}title", "")] = (min(xs), min(ys), max(xs), max(ys))
    return found


def along(path: str) -> list[tuple[float, float]]:
    """Points of a path of cubic Bézier curves."""
    points = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]
    found = []
    for start in range(0, len(points) - 3, 3):
        curve = points[start : start + 4]
        for step in range(41):
            at = step / 40
            weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
            found.append(
                (
                    sum(weight * x for weight, (x, _) in zip(weights, curve, strict=True)),
                    sum(weight * y for weight, (_, y) in zip(weights, curve, strict=True)),
                )
            )
    return found


@every_figure
def test_no_edge_runs_through_a_text_or_a_state(machine, name):
    svg = drawn(machine, name)
    inner = {title: (x + 2, y + 2, right - 2, low - 2) for title, (x, y, right, low) in boxes(svg).items()}
    crossed = [
        (edge.findtext(f"{SVG}title"), title)
        for edge in groups(svg, "edge")
        for x, y in along(next(one.get("d", "") for one in edge.iter(f"{SVG}path")))
        for title, (left, top, right, low) in inner.items()
        if left < x < right and top < y < low
    ]
    assert crossed == []


@every_figure
def test_a_figure_fits_on_a_page(machine, name):
    """At 10 points, a landscape page of A3 takes it."""
    _, _, width, height = map(float, (ET.fromstring(drawn(machine, name)).get("viewBox") or "").split())
    assert (width <= 1600, height <= 1400) == (True, True)


@every_figure
def test_a_figure_has_a_light_and_a_dark_scheme(machine, name):
    assert "@media (prefers-color-scheme: dark)" in drawn(machine, name)


@every_machine
def test_every_row_that_does_something_is_drawn(machine):
    roles, text = PROOF_ROLES[machine], dots(machine)
    said = {name for row in roles.machine.rows for name in row.effects}
    outputs = {name for name in said if isinstance(roles.machine.effects[name], Emit)}
    events = {row.event for row in roles.machine.rows if row.source != row.dest}
    assert {event for event in events if event not in text} == set()
    shown = {name for name in outputs if name.replace("_", " ") in text}
    assert outputs - shown <= {"ignore", "not_awaited", *(one for one in outputs if one.startswith("reject"))}


@every_machine
def test_no_guard_is_negated(machine):
    assert re.findall(r"\bnot [\w ]+[\],]", dots(machine)) == []


@every_machine
def test_every_guard_that_rows_negate_has_a_positive_name(machine):
    spec = PROOF_ROLES[machine].machine
    assert {*spec.opposites} == {name for row in spec.rows for name in row.unless}
    assert len({*spec.opposites.values()}) == len(spec.opposites)


@every_machine
def test_the_boundary_is_heavy(machine):
    assert "penwidth=2.6" in dots(machine)


@every_machine
def test_what_is_ignored_is_one_sentence(machine):
    text = dots(machine)
    assert "What a state does not name changes nothing there." in text
    assert "not awaited" not in text


@every_machine
def test_effects_on_registers_are_drawn_on_request(machine):
    roles = PROOF_ROLES[machine]
    assert len(dots(machine, registers=True)) > len(dots(machine))
    kept = [
        name.replace("_", " ")
        for name, effect in roles.machine.effects.items()
        if not isinstance(effect, Emit) and name not in roles.run.reasons and "_" in name
    ]
    shown = dots(machine, registers=True)
    assert kept
    assert [name for name in kept if name not in shown] == []


def test_the_parts_of_a_large_machine_are_all_its_states():
    roles = PROOF_ROLES["turn"]
    assert sorted(state for states in roles.parts.values() for state in states) == sorted(roles.machine.states)


def test_an_overview_names_events_alone():
    overview = to_dot(PROOF_ROLES["turn"])
    heading = overview.partition('"]')[0]
    assert "[tokens" not in overview.replace(heading, "")
    assert "model-stop, model-failure" in overview


def test_a_part_that_a_machine_does_not_have_is_refused():
    with pytest.raises(KeyError):
        to_dot(PROOF_ROLES["turn"], "middle")
