"""Fast reading of session files: formats in which each line gives its events at once.

In come blocks of lines; out go the same events that the format's mapper alone would give.
Begin with ``reading``; each other module has one format: the fields that decide, and the lines that it takes itself.
"""
