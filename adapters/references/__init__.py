"""Reference runtimes: one working runtime per machine, small enough to read.

In come stimuli; out go settled steps: new events of the log, and what is awaited.
Begin with ``interaction``, the plainest; ``registry`` is the single place to add one. ``provider`` is a model behind
HTTP that some of them can ask.
"""
