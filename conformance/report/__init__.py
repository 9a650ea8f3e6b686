"""Reports: renderings of the one result object, for CI systems and for people.

In come a result and its counterexamples; out goes text.
Begin with ``registry``, the single place to add a kind.
"""
