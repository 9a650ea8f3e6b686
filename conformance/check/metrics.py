"""Counts in Prometheus' text format."""

from collections.abc import Mapping
from typing import Final

from ..laws.log import LOG_LAWS

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def prometheus(counters: Mapping[str, int], gauges: Mapping[str, int], findings: Mapping[str, int]) -> str:
    """Return *counters* and *gauges*, by their names without the prefix, and the findings of each law, 0 included.

    >>> print(prometheus({"events": 3}, {}, {"outside-run": 1}).splitlines()[1])
    turncheck_events_total 3
    """
    rows = [(f"turncheck_{name}_total", "counter", value) for name, value in counters.items()]
    rows += [(f"turncheck_{name}", "gauge", value) for name, value in gauges.items()]
    lines = [line for name, kind, value in rows for line in (f"# TYPE {name} {kind}", f"{name} {value}")]
    lines.append("# TYPE turncheck_findings_total counter")
    laws = sorted(law.name for law in LOG_LAWS.values())
    lines += (f'turncheck_findings_total{{law="{law}"}} {findings.get(law, 0)}' for law in laws)
    return "\n".join(lines) + "\n"
