"""The JSON Schemas of every message and file, generated from the structures, and committed.

In come the msgspec structures of the other rooms; out go the ``*.json`` beside this file.
Begin with ``json_schemas``.
"""
