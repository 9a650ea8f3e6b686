"""Mutants of real runtimes' own loops, each held to the laws by ``verify`` alone: ``make wild``, docs/wild.md.

In come the names of runtimes; out come the fates of their mutants. Begin with ``running``, then ``bench``.
"""
