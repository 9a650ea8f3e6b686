"""Everything that can be verified: from a target's text to an open projector or runtime.

In comes ``python:``, ``cmd:``, ``http:``, ``reference`` or the name of a known runtime; out goes an object to drive.
Begin with ``registry``; ``runtime_catalog`` is the single place to add a known runtime.
"""
