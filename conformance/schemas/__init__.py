"""The JSON Schemas of everything on the wire, generated from the structures and committed.

Nothing comes in; out go ``*.json``. Begin with ``json_schemas``.
"""
