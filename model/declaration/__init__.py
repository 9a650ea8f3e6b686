"""The language in which machines are declared: rows over a closed vocabulary of guards and effects.

In comes a table of rows; out goes a ``Machine`` that can be stepped, rendered, explored and proved.
Begin with ``machine``; ``vocabulary`` holds each primitive with all its renderings.
"""
