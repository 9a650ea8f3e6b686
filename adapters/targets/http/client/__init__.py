"""The client of one AG-UI endpoint: a user who sends and aborts, and the tools that the client executes.

In comes the endpoint's event stream; out go events of the log and the calls that the client must answer.
Begin with ``session``.
"""
