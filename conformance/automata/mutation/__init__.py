"""Mutation analysis of the declared machines: edited rows as wrong implementations.

In comes a machine's name; out goes a report of the mutants that each method and each law kills, and of the survivors.
Begin with ``running``, then ``killing`` (methods in the machine's own alphabet) and ``mutants_as_targets`` (`verify`).
"""
