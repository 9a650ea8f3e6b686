"""OpenTelemetry traces of agents: OTLP/JSON, a batch of spans a line, as the collector's file exporter writes it.

In come spans in the order in which they ended and were exported; out go runs in the order of time, each whole at the
line that completes its trace. ``wire`` types the lines; ``given``, ``messages``, ``spread`` and ``steps`` read the
GenAI conventions and OpenInference; ``traces`` says which spans belong together, and ``runs`` makes the events of each
``run``. Begin with ``reader``.
"""

from .reader import OTLP

__all__ = ["OTLP"]
