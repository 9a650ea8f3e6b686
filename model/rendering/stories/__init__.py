"""Sequence pictures of machines at work, one file per picture.

In come a machine's declaration and the words that it plays; out goes a ``Scene``. The files named ``…_path`` play what
a source draws or lists, in its own numbers and frames (``path``); the others tell stories of their own (``story``).
Begin with ``paths``, which has all of the first.
"""
