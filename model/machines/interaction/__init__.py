"""The environment of a runtime, as a machine: in comes a stimulus, out goes all that a shell has to do.

``machine`` declares it: begin there. ``stimuli`` says which event a stimulus is, and ``roles`` what provers take from
it.
"""

from .machine import CONCURRENT, POLICIES, SPEC, STATES, tables
from .stimuli import event_of

__all__ = ["CONCURRENT", "POLICIES", "SPEC", "STATES", "event_of", "tables"]
