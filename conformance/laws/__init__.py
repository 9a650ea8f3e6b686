"""The laws: small functions that name their clauses; ``registry.LAWS`` is the one place to add another.

Laws see the model alone: no adapter, no test library.
"""
