"""Sequence pictures of machines at work, one file per picture.

In come a machine's declaration and the words that it plays; out goes a ``Scene``.
Begin with ``story``, which plays a word.
"""
