"""The HTTP/SSE target: an AG-UI endpoint whose user, client tools and model are played by turncheck (docs/http.md).

A worker process of ours speaks the adapter protocol: ``python -m turncheck.adapters.targets.http URL``. It sends the
user's messages to the endpoint, reads its event stream, and serves the OpenAI-compatible model that the endpoint asks.
"""
