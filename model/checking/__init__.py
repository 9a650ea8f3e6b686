"""What is known of a machine for certain: exploration to a bound, proofs without one, and the export for Spin.

In come machines with the roles of their states, events and registers; out go reachable states, theorems and Promela.
Begin with ``explore``, then ``proofs``.
"""
