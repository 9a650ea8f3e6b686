"""The formats of recorded logs, one module per format.

In come JSON values of one format; out go events of the core, several or none per value.
Begin with ``registry``, the single place to add a format; ``own`` is the shortest one, ``mapping`` is shared by all.
"""
