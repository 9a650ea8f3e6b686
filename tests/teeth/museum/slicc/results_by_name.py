"""slicc's chat: of parallel calls of one tool, each row shows the output of another.

A result comes without the id of its call, and is given to the last unfinished call of that tool's name. As soon as two
of one name run at once, outputs land on the wrong rows: ``echo BBB`` shows CCC.
"""

from projectors.plain import Plain


class Projector(Plain):
    """Rows of calls, and results that find theirs."""

    def open(self, kind, root):
        super().open(kind, root)
        self.rows = []

    def call(self, event):
        super().call(event)
        self.rows.append((event.tool, event.call_id, self.cycle.calls[event.call_id]))

    def attach(self, event):
        name = next(tool for tool, call_id, _ in self.rows if call_id == event.call_id)
        unfinished = [row for tool, _, row in self.rows if tool == name and row["result"] is None]
        unfinished[-1]["result"] = self.at
