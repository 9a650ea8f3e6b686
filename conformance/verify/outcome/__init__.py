"""The outcome of a verification: verdicts with their evidence, failures, counterexamples, coverage, the evidence floor.

In come findings and counts of the engine; out comes a ``Result``. Begin with ``results``, then ``verdict``.
"""
