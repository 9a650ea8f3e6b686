"""The adapter protocol: messages, both ends of the conversation, and the processes that hold it.

In come commands as JSON lines; out go strictly validated answers, or an error that names what was sent.
Begin with ``messages``, then ``connection`` for the harness's end and ``worker`` for the target's.
"""
