"""Mutation: edited rows of the machines as wrong implementations, and the methods and laws that find them.

In comes a machine; out go its mutants, and a rate per method.
Begin with ``running``, then ``killing``.
"""
