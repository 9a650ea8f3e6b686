"""Finite Mealy machines: minimal ones, n-complete suites, mutants and the words that distinguish them.

In comes a declared machine under one choice of tables and bounds, or any table; out go minimal tables, suites and
shortest words. Begin with ``mealy``, then ``finite``. This room imports ``checking`` (alphabet, positions), never the
reverse.
"""
