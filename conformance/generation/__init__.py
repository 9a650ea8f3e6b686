"""Input for an implementation: logs for projectors, words of stimuli for runtimes.

In come the rows of the machines and a seed; out go classic cases first, then generated ones.
Begin with ``logs`` for projectors, ``words`` for runtimes.
"""
