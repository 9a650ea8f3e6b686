"""The adapter protocol: its messages, both ends of the conversation, and the processes that talk it.

In come commands as JSON lines; out go strictly validated answers, or an error that names the message that was sent.
Begin with ``messages``, then ``projector`` and ``runtime`` (the two roles of a target) and ``connection``.
"""
