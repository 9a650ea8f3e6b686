"""What a runtime keeps beyond its process, by name. Its writes can fail."""

from copy import copy


class WriteError(Exception):
    """The disk is full."""


class Store:
    """The store of one folder. ``failing`` writes are still to fail; ``asked`` counts the provider's requests."""

    def __init__(self):
        self.kept, self.failing, self.asked = {}, 0, 0

    def write(self, name, value):
        """Keep a copy of *value*. Raises WriteError if the write fails."""
        if self.failing:
            self.failing -= 1
            raise WriteError
        self.kept[name] = copy(value)

    def read(self, name, default=None):
        """Return a copy of what was kept, or *default*."""
        return copy(self.kept.get(name, default))
