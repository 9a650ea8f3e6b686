"""The command line: one lazily imported module per command in ``commands``; what they share stands beside.

In come arguments; out go text or JSON, and an exit code. Begin with ``group``.
"""

from .group import COMMANDS, main, turncheck

__all__ = ["COMMANDS", "main", "turncheck"]
