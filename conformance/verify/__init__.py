"""Hold a target to the laws: cases in, one result with verdicts, evidence and shrunk counterexamples out.

Begin with ``verification``.
"""
