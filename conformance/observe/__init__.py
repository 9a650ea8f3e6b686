"""What is known of an implementation while it runs: the declared machines, stepped beside it.

In come stimuli and the settled steps that they lead to; out go traces, which laws judge and generation looks at.
Begin with ``observation``, then ``driver``, which applies words to a runtime.
"""
