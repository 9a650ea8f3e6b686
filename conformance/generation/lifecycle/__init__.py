"""Words beyond the first turn: decisions, compactions, runs side by side, sub-agents.

In come a runtime's capabilities and policies; out go words. ``decision_words`` and ``compaction_words`` are directed;
in ``overlapping_words`` and ``agent_words`` several actors work at once, each by a script of its own.
"""
