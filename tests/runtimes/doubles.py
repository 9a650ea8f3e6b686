"""The modules of wrong runtimes: the one place to add one."""

from . import compacting, concurrent, deciding, delegating, hosting, pausing, wrong

MODULES = (wrong, hosting, deciding, pausing, compacting, concurrent, delegating)
