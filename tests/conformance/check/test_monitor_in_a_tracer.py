"""The span processor of the tutorial: traces of many threads at once, tools that outlive their agents, nothing left."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, Tracer, set_span_in_context

TUTORIAL: Final = Path(__file__).parents[3] / "docs" / "tutorials" / "watch-traces.md"
RUNS: Final = 200
CALL: Final = {"type": "tool_call", "id": "c1", "name": "read"}
TEXT: Final = {"type": "text", "content": "blue"}


class Traced:
    """The tutorial's processor, and a tracer whose spans it gets."""

    def __init__(self, **options: Any) -> None:
        (source,) = re.findall(r"`watching\.py`:\n\n```python\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL)
        module: dict[str, Any] = {}
        exec(compile(source, "watching.py", "exec"), module)
        self.watch = module["Watch"](**options)
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(self.watch)
        self.tracer: Tracer = self.provider.get_tracer("test")

    def model(self, agent: Span, part: dict[str, Any]) -> None:
        made = json.dumps([{"role": "assistant", "parts": [part]}])
        with self.span("chat", agent, {"gen_ai.output.messages": made, "gen_ai.input.messages": "[]"}):
            pass

    @contextmanager
    def span(self, operation: str, within: Span | None, given: dict[str, str] | None = None) -> Iterator[Span]:
        begun = self.begin(operation, within, given or {})
        yield begun
        begun.end()

    def begin(self, operation: str, within: Span | None, given: dict[str, str]) -> Span:
        context = None if within is None else set_span_in_context(within)
        return self.tracer.start_span(operation, context, attributes={"gen_ai.operation.name": operation, **given})

    def run(self, *, tool: bool) -> None:
        with self.span("invoke_agent", None) as agent:
            self.model(agent, CALL)
            if tool:
                with self.span("execute_tool", agent, {"gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "read"}):
                    pass
            self.model(agent, TEXT)


def test_of_many_threads_each_trace_has_its_own_finding_and_none_is_left() -> None:
    traced = Traced()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: traced.run(tool=number % 10 > 0), range(RUNS)))
    traced.provider.shutdown()
    assert dict(traced.watch.monitor.findings) == {"unanswered-call": RUNS // 10}
    assert (traced.watch.monitor.cycles, len(traced.watch.monitor)) == (RUNS, 0)


def test_a_tool_that_ends_behind_its_agent_is_no_finding() -> None:
    traced = Traced()
    with traced.span("invoke_agent", None) as agent:
        traced.model(agent, CALL)
        late = traced.begin("execute_tool", agent, {"gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "read"})
        traced.model(agent, TEXT)
    late.end()
    traced.provider.shutdown()
    assert (traced.watch.monitor.cycles, dict(traced.watch.monitor.findings)) == (1, {})


def test_a_trace_ends_when_its_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    traced = Traced(wait=0.0)
    traced.run(tool=False)
    assert "unanswered-call in trace" in capsys.readouterr().out
    assert len(traced.watch.monitor) == 0
