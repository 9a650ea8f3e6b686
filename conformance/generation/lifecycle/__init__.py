"""Words beyond the first turn: decisions, compactions, clients, runs side by side, sub-agents.

In come a runtime's capabilities and policies; out go words. ``decision_words``, ``compaction_words`` and
``client_words`` are directed; in ``overlapping_words`` and ``agent_words`` several actors work at once, each by a
script of its own.
"""
