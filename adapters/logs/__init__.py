"""Recorded logs: from bytes in any known format to events with positions.

In come files or streams; out go the core's events, each with its position, line and byte offset.
Begin with ``reading``; ``formats.registry`` is the single place to add a format.
"""
