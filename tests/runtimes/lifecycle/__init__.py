"""Runtimes that can do more than answer: sessions on disk, approvals, compactions, sub-agents, clients, several runs.

In comes ``right.Right``; out come conforming runtimes, and wrong ones with one fault each, in one file per ability.
Begin with ``deciding``; ``hosting`` has the sessions that others keep.
"""
