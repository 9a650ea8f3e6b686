"""The modules of wrong runtimes: the one place to add one."""

from . import wrong
from .lifecycle import attended, compacting, concurrent, deciding, delegating, hosting, lasting, limited, pausing

MODULES = (wrong, hosting, limited, deciding, pausing, compacting, concurrent, delegating, lasting, attended)
