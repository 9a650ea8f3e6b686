"""Observation of a running implementation: the declared machines, stepped beside it.

In come stimuli and their settled steps; out go traces, for laws to judge and for generation to read.
Begin with ``observation``, then ``driver``, which applies words to a runtime.
"""
