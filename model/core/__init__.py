"""The log and its projection: what happened, and the cycles that it amounts to.

In come bytes or JSON values of one log; out go typed events, and per session the cycles, the queue and the anomalies.
Begin with ``events``, then ``projection``; ``loop`` is generated from the rows of ``machines.request_cycle``.
"""
