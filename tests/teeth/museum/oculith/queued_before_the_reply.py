"""Oculith's transcript: a message sent while the agent worked stands before the reply to the one sent first.

Messages are sorted by the time of their creation. A queued message is stamped with the time at which it was queued,
which is before the reply that it waited for.
"""

from projectors.plain import Plain


class Projector(Plain):
    """A run shows the messages created between its begin and its end."""

    def open(self, kind, root):
        super().open(kind, root)
        self.cycle.created = root

    def result(self):
        self.sort()
        return super().result()

    def sort(self):
        """Assign each message to the run in whose time it was created."""
        cycles = [cycle for cycle in [*self.closed, self.cycle] if cycle is not None]
        for cycle in cycles:
            home = next(one for one in cycles if one.stop is None or cycle.created < one.stop)
            if home is not cycle:
                message = cycle.steps[0]
                cycle.steps = cycle.steps[1:]
                home.steps = sorted([*home.steps, message], key=when)


def when(step):
    """Return the time of a step: that of its message, text or first call."""
    if step["type"] != "ai-block":
        return step["at"]
    return step["groups"][0]["calls"][0]["at"] if step["text"] is None else step["text"]
