"""The command line's input: shared options, short forms of targets and words, completion, and the files to read.

In come arguments; out come values of the model. Begin with ``shared``.
"""
