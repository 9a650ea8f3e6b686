"""From the rows of the core machine to the typed loops of the hot path.

In come the rows of ``request_cycle``; out goes ``core/loop.py``, committed and held against its source. Begin with
``generate``; ``rows`` renders the rows for one loop, and ``loop_template`` has what stands around them.
"""
