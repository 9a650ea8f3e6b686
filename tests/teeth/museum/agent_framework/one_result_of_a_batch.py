"""Agent Framework to AG-UI: of several results that come together, one is left.

A message of the role ``tool`` may carry several results. The conversion keeps the id and the content in two variables,
and emits one message when it has read all: each result overwrites the one before it. The other calls look open.
"""

from projectors.plain import Plain


class Projector(Plain):
    """Results in a row are one message; it is emitted when something else comes, or at the end."""

    def reset(self):
        super().reset()
        self.contents = []

    def take(self, value):
        if not (isinstance(value, dict) and value.get("type") == "tool-result"):
            self.emit()
        super().take(value)

    def attach(self, event):
        super().attach(event)
        self.contents.append(self.cycle.calls[event.call_id])

    def emit(self):
        """Emit the collected results as one message."""
        emitted = self.contents[-1:]
        for call in self.contents:
            if call not in emitted:
                call["result"] = None
        self.contents = []

    def result(self):
        self.emit()
        return super().result()
