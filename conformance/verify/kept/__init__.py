"""Files that outlive a verification: counterexamples that are replayed, and the baseline of known failures.

In come files and a target; out come verdicts. Begin with ``replay``.
"""
