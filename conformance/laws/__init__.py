"""The laws: small functions that name their clauses. They see the model alone: no adapter, no test library.

In come traces of a projector or a runtime; out go violations, each in a sentence.
Begin with ``law``, then ``cycles``; ``registry.LAWS`` is the single place to add one.
"""
