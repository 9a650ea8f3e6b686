"""The output of commands: the one sink for text, and the pictures of words, runs and learned machines as text.

In come results and printable text; out go lines on the standard streams. Begin with ``output``.
"""
