"""The reference of ``engine``: the machine in a real server, and as a runtime under the harness.

In come requests, or stimuli; out go events on the wire (``wire``) and in the session's log.
Begin with ``engine``, the pure part; ``server`` needs the extra ``http``.
"""
