"""The formats of recorded logs, a module each.

In come JSON values of one format; out go events of the core, several or none per value.
Begin with ``registry``, the single place to add a format; ``own`` is the shortest one, ``mapping`` what all share.
"""
