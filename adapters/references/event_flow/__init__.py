"""The reference of ``event_flow``: the backend's loop with its frames, and as a runtime that is driven."""
