"""The parts of a word in which several actors of one session work at once, each a word of its own.

In comes a trace; out go its runs side by side (``overlapping``, ``run_parts``) and its sub-agents (``agents``,
``agent_parts``), as traces that a law on one run judges. Begin with ``run_parts``.
"""
