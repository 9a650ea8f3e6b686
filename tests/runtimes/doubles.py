"""The modules of wrong runtimes: the one place to add one."""

from . import compacting, concurrent, deciding, delegating, hosting, limited, pausing, wrong

MODULES = (wrong, hosting, limited, deciding, pausing, compacting, concurrent, delegating)
