"""The seven machines, each declared once: the core, four runtimes, the UI's collation, and the environment.

In comes the vocabulary; out goes ``registry.MACHINES``, from which all else is derived.
Begin with ``request_cycle``; a file reads top to bottom like its specification.
"""
