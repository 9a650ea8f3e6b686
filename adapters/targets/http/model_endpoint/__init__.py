"""The model that a server under test asks: an OpenAI-compatible endpoint on loopback.

In come requests of the server under test; out go the harness's items, whole or as a stream.
Begin with ``endpoint``.
"""
