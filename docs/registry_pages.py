"""The pages that come from the registries: a sphinx extension with one directive, ``{registry} NAME``.

Each page of docs/registry describes its registry in prose, and this directive adds the entries. Nothing is written to
disk, and nothing can be out of step.
"""

import base64
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from turncheck.adapters.logs.formats.mapping import ASPECTS
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES
from turncheck.adapters.protocol.messages import CAPABILITIES, RUNTIME_CAPABILITIES
from turncheck.adapters.references.registry import REFERENCES
from turncheck.adapters.targets.registry import KINDS
from turncheck.adapters.targets.runtime_catalog import known
from turncheck.conformance.cli.commands.laws import JUDGED
from turncheck.conformance.laws.clauses import Traced, traced
from turncheck.conformance.laws.law import Law
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.report.counterexample_diagram import picture
from turncheck.conformance.report.lessons import Lesson, lessons, stories
from turncheck.conformance.schemas.json_schemas import schemas, text
from turncheck.model.clauses import clause_text
from turncheck.model.declaration.machine import EVERY, Machine, NativeRow
from turncheck.model.machines.registry import MACHINES, PROOF_ROLES
from turncheck.model.rendering.machine_figure import figures
from turncheck.model.rendering.svg import to_svg

_SUBJECTS: Final = {
    "runtime": "Laws on runtimes",
    "projector": "Laws on projectors",
    "log": "Laws on recorded logs",
    "collator": "Laws on collators",
}
_SOURCES: Final = {
    "RC": "The request cycle",
    "X": "What every machine promises",
    "TM": "The single-chat turn",
    "EF": "The event flow",
    "BED": "The conversation state machine",
    "RS": "The request sequence",
    "L": "Beyond the first turn",
}
_WAYS: Final = {
    "log": "by laws, on a log",
    "run": "by laws, on a driven run",
    "relation": "by laws that compare two observations",
    "reference": "on the reference runtime, since no stimulus reaches it from outside",
    "review": "by reading",
}


def plain(words: str) -> str:
    """*words* with the special characters of Markdown escaped; code between backticks stays."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_{}\[\]<>|$])", r"\\\1", part)
        for part in re.split(r"(`[^`]*`)", words)
    )


def sentence(words: str) -> str:
    """*words* as a sentence."""
    return plain(f"{words[0].upper()}{words[1:].rstrip('.')}.")


def code(words: str) -> str:
    """*words* as code."""
    return f"`{words}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


# ---- laws ------------------------------------------------------------------------------------------------------


def laws() -> Iterator[str]:
    """A section per law, in the order of reports."""
    for subject, title in _SUBJECTS.items():
        yield from (f"## {title}", "")
        for law in LAWS.values():
            if law.subject == subject:
                yield from _law(law)


def _law(law: Law) -> Iterator[str]:
    judged = JUDGED.get(law.subject, f"verify, on a {law.subject}")
    yield from (f"### {law.name}", "", f"**{sentence(law.says)}** {plain(stories().get(law.name, ''))}", "")
    yield f"- Judged by {plain(judged)}; a {law.kind} law, since {law.since}. Evidence: {plain(law.evidence)}."
    if law.needs:
        yield f"- Needs {', '.join(map(code, law.needs))}; skipped where that is not declared."
    yield from (f"- {{term}}`{clause}`: {plain(clause_text(clause))}" for clause in law.clauses)
    yield ""
    if law.name in lessons():
        yield from _example(law.name, lessons()[law.name])


def _example(law: str, lesson: Lesson) -> Iterator[str]:
    drawn = base64.b64encode(to_svg(picture(law, lesson)).encode()).decode()
    yield from (f"The smallest example. {sentence(lesson.fault)}", "")
    yield from (f'<img alt="a sequence that breaks {law}" src="data:image/svg+xml;base64,{drawn}">', "")


# ---- clauses ---------------------------------------------------------------------------------------------------


def clauses() -> Iterator[str]:
    """A glossary per source, so that other pages can link to a clause by its name."""
    for prefix, title in _SOURCES.items():
        yield from (f"## {title}", "", "```{glossary}")
        for clause in traced():
            if clause.name.partition("-")[0] == prefix:
                yield from _clause(clause)
        yield from ("```", "")


def _clause(clause: Traced) -> Iterator[str]:
    yield from (clause.name, f"  {plain(clause.says)}", "")
    judged = f"  *Judged {_WAYS[clause.way]}*"
    if clause.reason is not None:
        judged += f": {plain(clause.reason)}"
    if clause.laws:
        shown = (f"[{name}](laws.md#{name}) ({', '.join(map(code, of))})" for name, of in clause.doubles.items())
        judged += f": {', '.join(shown)}"
    if clause.rows:
        judged += f". Stated by the rows {', '.join(map(code, clause.rows))}"
    yield from (f"{judged}.", "")


# ---- machines --------------------------------------------------------------------------------------------------


def machines() -> Iterator[str]:
    """A section per machine: its picture, and the rows that it is drawn from."""
    for machine in MACHINES.values():
        yield from _machine(machine)


def _machine(machine: Machine) -> Iterator[str]:
    module = importlib.import_module(f"turncheck.model.machines.{machine.name}")
    drawings = [f"../../diagrams/{name}.svg" for name in figures(PROOF_ROLES[machine.name])]
    yield from (f"## {machine.title}", "", plain((module.__doc__ or "").strip()), "")
    for drawing in drawings:
        yield from (f"[![the machine {machine.name}]({drawing})]({drawing})", "")
    ends = ", ".join(map(code, machine.final))
    yield from (f"It begins in {code(machine.initial)}; a log may end in {ends}.", "", "### Rows", "")
    yield from table(("event", "in", "leads to", "if", "then"), (_row(machine, row) for row in machine.table))
    yield from ("### Clauses of its events", "")
    named = (
        (code(event), ", ".join(f"{{term}}`{name}`" for name in stated)) for event, stated in machine.events.items()
    )
    yield from table(("event", "clauses"), named)
    for title, properties in (("Always", machine.always), ("Sometimes", machine.sometimes)):
        yield from (f"### {title}", "", *(f"- {plain(name)}" for name in properties), "")


def _row(machine: Machine, row: NativeRow) -> Sequence[str]:
    event, source, dest, conditions, unless, effects = row
    sources = source if isinstance(source, list) else [source]
    held = [*(conditions or ()), *(machine.opposites.get(name, f"not {name}") for name in unless or ())]
    return (
        code(str(event)),
        "every state" if source == EVERY else ", ".join(code(str(name)) for name in sources),
        "itself" if dest is None else code(str(dest)),
        ", ".join(held).replace("_", " "),
        "; ".join(effects or ()).replace("_", " "),
    )


# ---- targets and schemas ---------------------------------------------------------------------------------------


def targets() -> Iterator[str]:
    """The kinds of target, the known runtimes, the reference runtimes and the capabilities."""
    yield from ("## Kinds", "")
    yield from table(("target", "what it is"), ((code(kind.form), plain(kind.description)) for kind in KINDS.values()))
    yield from ("## Known runtimes", "")
    rows = (
        (code(name), plain(one.description), code(one.package), f"[{one.adapter.name}]({_source(one.adapter)})")
        for name, one in known().items()
    )
    yield from table(("target", "what it is", "package", "adapter"), rows)
    yield from ("## Reference runtimes", "")
    named = ((code(f"reference:{name}"), MACHINES[name].title) for name in REFERENCES)
    yield from table(("target", "the machine that it runs"), named)
    declared = {"projector": CAPABILITIES, "runtime": RUNTIME_CAPABILITIES, "collator": COLLATOR_CAPABILITIES}
    for title, capabilities in declared.items():
        yield from (f"## Capabilities of a {title}", "")
        yield from table(("capability", "meaning"), _described(capabilities))


def _source(path: Any) -> str:
    _, _, inside = path.as_posix().rpartition("/adapters/")
    return f"../../adapters/{inside}"


def _described(rows: Mapping[str, str]) -> Iterator[Sequence[str]]:
    return ((code(name), plain(what)) for name, what in rows.items())


def published() -> Iterator[str]:
    """Every schema, with its file and its text."""
    for name, schema in schemas().items():
        yield from (f"## {name.removesuffix('.json')}", "", f"{sentence(schema['title'])}")
        yield from (f"[{name}](../../conformance/schemas/{name})", "", "<details><summary>the schema</summary>", "")
        yield from ("```json", text(schema).rstrip(), "```", "", "</details>", "")


def formats() -> Iterator[str]:
    """Every log format, with what it can and cannot say."""
    says = {name: [plain(form.limits.get(aspect, "yes")) for aspect in ASPECTS] for name, form in FORMATS.items()}
    yield from table(("format", *ASPECTS.values()), ((code(name), *cells) for name, cells in says.items()))
    yield from ("## Names", "")
    rows = (
        (code(form.name), plain(form.title), code(f"--format {form.called}"), "broken" if form.whole else "unfinished")
        for form in FORMATS.values()
    )
    yield from table(("format", "what it is", "option", "a log without a terminal is"), rows)


PAGES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "laws": laws,
    "clauses": clauses,
    "machines": machines,
    "targets": targets,
    "formats": formats,
    "schemas": published,
}
"""Name → the Markdown that comes from the registry of that name: the one place to add one."""


class Registry(SphinxDirective):
    """The directive that puts in a registry's Markdown."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Parse the page's Markdown, headings included."""
        self.env.note_reread()  # sphinx watches no file that this comes from
        return self.parse_text_to_nodes("\n".join(PAGES[self.arguments[0]]()), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by sphinx."""
    app.add_directive("registry", Registry)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
