"""Machines told a story each, and drawn at work: who says what to whom.

In come a machine's declaration and the words that it is told; out goes a ``Scene``.
Begin with ``story``, which plays a word; each other file is one picture.
"""
