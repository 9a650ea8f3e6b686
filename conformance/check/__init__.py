"""Judge recorded logs by the laws that need nothing else, and redact logs without changing their verdict.

In comes one log; out go its findings.
Begin with ``judge``.
"""
