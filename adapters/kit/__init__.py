"""Helper libraries for adapters of runtimes: one file per language, without dependencies, copied beside an adapter.

In come the protocol's stimuli; out go calls of the adapter's methods, and its events as answers.
Begin with ``Adapter`` in ``turncheck_kit.py``; ``turncheck_kit.mjs`` is the same for JavaScript.
"""
