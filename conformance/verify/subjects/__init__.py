"""The two kinds of subject of the engine, projectors and runtimes: the cases of each, how they are run and judged.

In come a target and laws; out come observations and findings. Begin with ``subject``, which the others fill.
"""
