"""The laws: small functions, each with its declaration beside it.

In comes what was observed of a log, a projector, a runtime or a collation; out go witnesses and findings. Laws see the
model alone: no adapter, no test library. Begin with ``law``, then ``registry``, the one place to add a module of laws.
"""
