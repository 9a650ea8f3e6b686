"""The theorems: claims about every machine whose roles they speak of, each with the search for what refutes it.

In comes a machine with its roles; out come refutations, none where the claim is proved. Begin with ``theorem``; a file
holds the theorems on one subject: runs, messages, calls.
"""
