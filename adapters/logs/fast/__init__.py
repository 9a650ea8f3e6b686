"""Fast loops over logs of single formats: what they know as good they read themselves, the rest a mapper reads.

In come blocks of lines; out go the same events that the format's mapper alone would give.
Begin with ``reading``; ``generate`` writes the loops from the declarations of the formats.
"""
