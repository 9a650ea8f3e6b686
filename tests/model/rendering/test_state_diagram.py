"""The pictures of a declared machine."""

import os
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from transitions.extensions import GraphMachine

from turncheck.model.declaration.machine import Machine
from turncheck.model.machines import request_cycle
from turncheck.model.machines.registry import MACHINES
from turncheck.model.rendering import graphviz_svg as pictures
from turncheck.model.rendering import state_diagram as diagrams

machines = pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))


def graph_machine_edges(machine: Machine) -> set[tuple[str, str]]:
    """The edges that `transitions` draws for the same rows, internal ones left out."""

    class Model:
        pass

    for name in [*machine.guards, *machine.effects]:
        setattr(Model, name, lambda *_: True)
    rows: Any = [list(row) for row in machine.table]
    graph: Any = GraphMachine(
        model=Model(),
        states=list(machine.states),
        transitions=rows,
        initial=machine.initial,
        auto_transitions=False,
        send_event=True,
        graph_engine="mermaid",
        show_conditions=True,
    )
    source = graph.get_combined_graph().source
    found = re.findall(r"^\s*(\w+) --> (\w+): (.*)$", source, re.MULTILINE)
    assert any("[internal]" in label for _, _, label in found)
    return {(start, end) for start, end, label in found if re.sub(r"[^|]*\[internal\][^|]*", "", label).strip(" |")}


@machines
def test_edges_are_those_of_transitions_own_graph(machine):
    """GraphMachine draws the same external edges for the same rows."""
    assert set(diagrams.edges(machine)) == graph_machine_edges(machine)


@machines
def test_dot_has_exactly_the_declared_edges(machine):
    """Between states DOT has one edge a (source, destination), besides the marks."""
    found = re.findall(r"^\t(\w+) -> (\w+) \[", diagrams.to_dot(machine), re.MULTILINE)
    assert sorted(found) == sorted(diagrams.edges(machine))


@machines
def test_mermaid_has_exactly_the_declared_edges(machine):
    """Mermaid has the same edges."""
    found = re.findall(r"^ +(\w+) --> (\w+) :", diagrams.to_mermaid(machine), re.MULTILINE)
    assert sorted(found) == sorted(diagrams.edges(machine))


@machines
def test_start_and_final_states_are_marked(machine):
    """The initial state has the start mark, each final state its mark."""
    mermaid = diagrams.to_mermaid(machine)
    assert f"[*] --> {machine.initial}\n" in mermaid
    assert all(f"{state} --> [*]\n" in mermaid for state in machine.final)
    dot = diagrams.to_dot(machine)
    assert f'"start mark" -> {machine.initial}' in dot
    assert all(f'"final mark {state}" [' in dot for state in machine.final)


@machines
@pytest.mark.parametrize("draw", [diagrams.to_dot, diagrams.to_mermaid])
def test_every_row_is_drawn_in_words(machine, draw):
    """Each row's event, guards and effects stand in the picture, without an identifier's underscores."""
    text = re.sub(r"\\l[\s\N{NO-BREAK SPACE}]*", " ", draw(machine)).replace("#59;", ";")
    for row in machine.rows:
        line = diagrams.line(machine, row)
        assert line.event in text.replace("\\|", "|")
        assert line.guard in text
        assert all(name.replace("_", " ") in text for name in row.effects)


def test_the_stop_reasons_are_one_boundary_class():
    """The reasons never have an edge each: wherever one stands, all three do."""
    mermaid = diagrams.to_mermaid(request_cycle.SPEC)
    assert mermaid.count("completed") == mermaid.count("run-stop ⟨completed | interrupted | error⟩") > 0


@machines
def test_svg_is_well_formed_and_names_every_state(machine):
    """An XML parser takes the drawing, and finds each state's title in it."""
    root = ET.fromstring(pictures.to_svg(diagrams.to_dot(machine)))
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {state.replace("_", " ") for state in machine.states} <= texts


def test_svg_does_not_name_the_version_that_drew_it():
    """A comment with a version would drift."""
    assert "<!--" not in pictures.to_svg("digraph { a -> b }")


def test_bad_dot_is_a_value_error():
    """Graphviz's refusal is said in its words."""
    with pytest.raises(ValueError, match="Graphviz refuses"):
        pictures.to_svg("digraph {")


def test_bytes_do_not_depend_on_the_hash_seed():
    """Two processes with other hash seeds draw the same bytes."""
    code = (
        "from turncheck.model import diagrams, pictures; from turncheck.model.machines.registry import MACHINES\n"
        "for m in MACHINES.values():\n"
        "    dot = diagrams.to_dot(m); print(dot, diagrams.to_mermaid(m), pictures.to_svg(dot))"
    )
    drawn = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert drawn[0] == drawn[1]
