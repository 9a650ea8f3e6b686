"""Words in which several actors of one session work at once, each by a script of its own.

In come a runtime's capabilities and a driver; out go interleavings of scripts, and their stimuli as the actors wait for
them. ``overlapping_words`` has runs side by side; ``agent_words`` has sub-agents.
"""
