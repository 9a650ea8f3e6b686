"""Machines as finite Mealy machines: minimal ones, distinguishing words, and mutants.

In comes a machine under one choice of tables and bounds; out go its abstract alphabet, its tables and shortest words.
Begin with ``finite``, then ``mealy``.
"""
