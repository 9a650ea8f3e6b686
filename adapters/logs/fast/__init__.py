"""Fast loops over logs of single formats: what they know as good they read themselves, the rest a mapper reads.

In come blocks of lines or of server-sent events; out go the same events that the format's mapper alone would give.
Begin with ``registry``, which says what a fast loop is, and ``reading``; ``live`` reads blocks of streams that go on.
``generate`` writes the loops from what the formats declare: rows (``..formats.wires``), whose methods both the mapper
and the loop call, or AG-UI's parts (``ag_ui``).
"""
