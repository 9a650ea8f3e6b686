"""The model that a server under test asks: an OpenAI-compatible endpoint on loopback.

In come requests of the server under test; out go the items that the harness decides on, whole or as a stream.
Begin with ``endpoint``.
"""
