"""The laws: small functions, each with its declaration beside it.

In come observations of a log, a projector, a runtime or a collation; out go witnesses and findings. Laws import only
the model: no adapter, no test library. Begin with ``law``, then ``registry``, the one place to add a module of laws.
"""
