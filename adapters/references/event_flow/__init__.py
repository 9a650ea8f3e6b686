"""The reference of ``event_flow``: the backend's loop with its frames, also as a runtime under the harness.

In come items of the model's response; out go frames of a dialect, and events of the log.
Begin with ``backend``.
"""
