"""Kills at every point of many words, on persistent runtimes: docs/kills.md.

In come the names of known runtimes, and a seed; out go docs/kills.json and docs/kills.md. Begin with ``running``.
"""
