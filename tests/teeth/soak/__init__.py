"""Does anything grow while turncheck verifies again and again? ``make soak MINUTES=30``.

In one process, a Python projector, a program of Node and a server are verified in turn, for so many minutes; memory,
descriptors, processes, threads and temporary files are looked at between. Begin with ``measures``, then ``__main__``.
"""
