"""Kimi Code: after one write that failed nothing is stored any more, and a restart loses all since.

The log of a session remembers that an append failed, and refuses the later ones without a try. All that is read comes
from memory, so that the session seems to go on.
"""

from ..store import WriteError
from ..turns import Kept


class Runtime(Kept):
    """``storage_failure`` is set by the first failure, until the process ends."""

    storage_failure = False

    def keep(self, name, value):
        if self.storage_failure:
            return
        try:
            self.store.write(name, value)
        except WriteError:
            self.storage_failure = True
