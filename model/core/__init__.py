"""The log and its projection: a session's events, and the cycles that they form.

In come bytes or JSON values of one log; out go typed events, and per session the cycles, the queue and the anomalies.
Begin with ``events``, then ``projection``; ``loop`` is generated from the rows of ``machines.request_cycle``.
"""
