"""The mutants: every change that cosmic-ray's operators, and one of ours, can make to a module where it runs."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator, operator_names
from parso.python.tree import Keyword
from parso.tree import BaseNode

REMOVE = "RemoveStatement"
KEPT = {"assert_stmt", "import_name", "import_from", "string", "strings", "keyword", "global_stmt"}
"""What is not removed: asserts narrow types, and the others change nothing."""


class RemoveStatement(Operator):  # type: ignore[misc]
    """Puts ``pass`` in place of a statement: a loop is made of them, and cosmic-ray has no operator for it."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if node.type == "simple_stmt" and node.children[0].type not in KEPT and _in_function(node):
            only_declares = node.children[0].type == "expr_stmt" and "=" not in node.children[0].get_code()
            if not only_declares:
                yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        first = node.get_first_leaf()
        node.children[0] = Keyword("pass", first.start_pos, prefix=first.prefix)
        return node

    @classmethod
    def examples(cls) -> Any:
        return (Example("def f(x):\n    x.clear()\n", "def f(x):\n    pass\n"),)


@dataclass(frozen=True)
class Mutant:
    """One change: the operator, which of its places, and where that is. ``definition`` is what is around it."""

    module: str
    operator: str
    occurrence: int
    line: int
    definition: str

    def code(self, source: str) -> str:
        """The mutated module."""
        return str(mutate_code(source, _operator(self.operator), self.occurrence))


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """All mutants of a module but those in annotations and in the heads of classes: nothing there is a projection's."""
    tree = get_ast(source)
    nodes = list(ast_nodes(tree))
    silent = list(_annotations(source))
    for name in (*operator_names(), REMOVE):
        operator = _operator(name)
        if operator is None:
            continue
        places = [(node, start) for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (node, start) in enumerate(places):
            if not any(begin <= start < end for begin, end in silent):
                yield Mutant(module, name, occurrence, start[0], ".".join(_around(node)))


def change(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ: before, and after."""
    lines = list(ndiff(source.splitlines(), mutated.splitlines()))
    return tuple(" ".join(line[2:].strip() for line in lines if line[:2] == mark) for mark in ("- ", "+ "))  # type: ignore[return-value]


def _operator(name: str) -> Any:
    """An operator of that name; None where it wants arguments of its own."""
    kind = RemoveStatement if name == REMOVE else get_operator(name)
    return None if kind.arguments() else kind()


def _annotations(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations and the heads of classes stand: (line, column) of their begin and end."""
    for node in ast.walk(ast.parse(source)):
        named = (getattr(node, "annotation", None), getattr(node, "returns", None))
        aliases = (
            node.value if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation) else None
        )
        heads = [keyword.value for keyword in node.keywords] if isinstance(node, ast.ClassDef) else []
        for part in (*named, aliases, *heads):
            if isinstance(part, ast.expr):
                yield (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)


def _around(node: BaseNode | None) -> list[str]:
    """The names of the classes and functions around a node, the outermost first."""
    found: list[str] = []
    while node is not None:
        if node.type in {"funcdef", "classdef"}:
            found.insert(0, node.name.value)  # type: ignore[attr-defined]
        node = node.parent
    return found


def _in_function(node: BaseNode | None) -> bool:
    while node is not None:
        if node.type == "funcdef":
            return True
        node = node.parent
    return False
