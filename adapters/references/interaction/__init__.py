"""The plainest chat agent: the machine ``interaction``, and a shell that performs its outputs.

In come stimuli; out go settled steps. ``runtime`` is the only module.
"""

from .runtime import InteractionRuntime

__all__ = ["InteractionRuntime"]
