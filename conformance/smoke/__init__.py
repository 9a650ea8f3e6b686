"""A walk through the life of an implementation, for the author of its adapter (``turncheck smoke``).

In comes an open target; out goes one outcome per step, with a hint where the step failed.
Begin with ``walk``, then ``runtime`` or ``projector``.
"""
