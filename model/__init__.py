"""The formal model: events, machines declared as rows, the projection, and what is derived from them.

Pure: no test library, and no I/O but ``writing``, by which all rooms write their files. Names that users need are
imported from their modules, so that importing this package costs nothing.
"""

from . import renamed

renamed.install()
