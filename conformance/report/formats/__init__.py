"""Formats of a report, each a module of its kind's name: for CI systems, and for people.

In come a result and its counterexamples, or judged logs; out goes the text of one file.
Begin with ``badge``, the smallest; ``..registry`` lists them all.
"""
