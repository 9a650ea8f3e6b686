"""assistant-ui over AG-UI: a run that failed is shown as one that succeeded.

The client's ``finalize`` hook comes after ``failed``, as after every run, and makes up the event of a finished run if
none was dispatched. The failed run has dispatched its error, and recorded that nowhere: its status is overwritten.
"""

from projectors.plain import Plain


class Projector(Plain):
    """An aggregator, and the subscriber that dispatches to it."""

    def stop(self, reason):
        self.dispatched = False
        super().stop(reason)

    def close(self, reason):
        self.dispatch(reason)
        if reason == "completed":
            self.dispatched = True
        self.finalize()
        self.closed.append(self.cycle)
        self.cycle = None

    def finalize(self):
        if not self.dispatched and self.cycle.reason != "interrupted":
            self.dispatch("completed")

    def dispatch(self, reason):
        self.cycle.stop, self.cycle.reason = self.at, reason
