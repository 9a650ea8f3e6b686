"""Hold a target to the laws, with one engine for two kinds of subject: projectors and runtimes.

In come an open target, laws and a number of cases; out come one result with verdicts and evidence, and shrunk
counterexamples, which can be written, read and replayed. Begin with ``verification``, then ``engine`` and ``subject``.
"""
