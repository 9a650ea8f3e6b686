"""Generate the typed loops of the hot path from the rows of the core machine.

In come the rows of ``request_cycle``; out goes ``core/loop.py``, committed and compared with its source. Begin with
``generate``; ``rows`` renders the rows for one loop, and ``loop_template`` has the frame around them.
"""
