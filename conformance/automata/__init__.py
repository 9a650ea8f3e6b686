"""Methods on finite machines: learning one from a target, n-complete suites for one, and mutants of one.

In come a target or a declared machine; out come Mealy machines, verdicts of suites, and shares of mutants found.
Each folder is a method; begin with ``n_complete``.
"""
