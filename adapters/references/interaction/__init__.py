"""The plainest chat agent: the machine ``interaction``, and a shell that does what its outputs ask for."""

from .runtime import InteractionRuntime

__all__ = ["InteractionRuntime"]
