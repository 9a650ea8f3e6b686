"""Targets of verification: from a target's text to an open projector or runtime.

In comes ``python:``, ``cmd:``, ``http:``, ``reference`` or a known runtime's name; out goes an object to drive.
Begin with ``registry``; ``runtime_catalog`` is the single place to add a known runtime.
"""
