"""The plainest chat agent: the machine ``interaction``, and a shell that performs its outputs.

In come stimuli; out go settled steps. Begin with ``runtime``; ``profile`` holds its claims, ``journal``
keeps what it has heard, and ``audience`` tells its clients.
"""

from .runtime import InteractionRuntime

__all__ = ["InteractionRuntime"]
