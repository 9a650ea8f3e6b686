"""The plainest chat agent: the machine ``interaction``, and a shell that does what its outputs ask for.

In come stimuli; out go settled steps. Begin, and end, with ``runtime``.
"""

from .runtime import InteractionRuntime

__all__ = ["InteractionRuntime"]
