"""Exploration: the cases that a subject is given, cut into shards, which are played here or by worker processes.

In come a subject and a number of cases; out comes what they showed, merged into a run. Begin with ``shards``, then
``words`` and ``logs``, which make the cases of the two kinds of subject.
"""
