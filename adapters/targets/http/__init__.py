"""The HTTP target: an AG-UI endpoint; turncheck plays its user, its client-side tools and its model (docs/http.md).

In come messages of the adapter protocol, to the process ``python -m turncheck.adapters.targets.http URL``; out go
requests to the endpoint, and answers that hold its events.
Begin with ``worker``, then ``driver``. All but ``options`` needs the extra ``http``.
"""
