"""The language in which machines are declared: rows over a closed vocabulary of guards and effects.

In comes a table of rows; out goes a ``Machine`` that can be stepped, rendered, explored and proved, and the roles that
its names play in proofs. Begin with ``machine``; ``vocabulary`` holds each guard and effect with all its renderings,
and ``lint`` lists the faults of a declaration.
"""
