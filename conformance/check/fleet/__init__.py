"""Judge many logs in worker processes: results, order and bytes are those of one process.

In come tasks in order; out go their results in the same order.
Begin with ``pool``.
"""
