"""Certain knowledge of a machine: its abstract alphabet, exploration to a bound, proofs without one, Promela for Spin.

In come machines with the roles of their states, events and registers; out go reachable states, theorems and Promela.
Begin with ``alphabet`` and ``explore``, then ``proofs`` and ``theorems``. This room imports nothing of ``automata``,
which builds on it.
"""
