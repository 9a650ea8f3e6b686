"""The clauses of the sources, in our own words, by identifier.

Nothing comes in; out goes ``catalogue.CLAUSES`` with each clause's text and how it is judged.
Begin with ``catalogue``.
"""
