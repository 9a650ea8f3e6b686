"""A Python projector as a target in this process: what the worker does, without the worker.

Nothing here can hang, and all instances share one hash seed.
"""

import json
from functools import partial

import msgspec

from turncheck.adapters.errors import ImplementationError, UnsupportedError
from turncheck.adapters.loading import Loaded, load
from turncheck.adapters.projections import read_projection
from turncheck.adapters.watch import Watch


class InProcess:
    """The target that ``python:`` followed by *text* names; *profile* counts instead of its own, where given."""

    def __init__(self, text, profile=None):
        self._text, self._given = text, profile
        loaded = load(text)
        assert isinstance(loaded, Loaded)
        self._loaded = loaded
        self.name = f"python:{text}"
        self.implementation = self._loaded.implementation
        self.profile = profile or self._loaded.profile
        self.last_input_changed = None

    def project(self, events, policies=None):
        if policies is None:
            return self._projection(self._loaded.project, events)
        if not self._loaded.profile.can("policies"):
            raise UnsupportedError("policies")
        return self._projection(partial(self._loaded.project, policies=msgspec.to_builtins(policies)), events)

    def feed(self, events):
        if self._loaded.feed is None:
            raise UnsupportedError("feed")
        self._ask(self._loaded.feed, events)

    def fed(self):
        return self._projection(self._loaded.project, [])

    def reset(self):
        self._loaded.reset()

    def again(self, hash_seed):
        return InProcess(self._text, self._given)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, function, events):
        events = json.loads(json.dumps(events))
        try:
            with Watch(events) as watch:
                answer = function(events)
        except Exception as error:
            raise ImplementationError(f"{type(error).__name__}: {error}") from error
        self.last_input_changed = watch.changed
        return answer

    def _projection(self, function, events):
        return read_projection(msgspec.Raw(msgspec.json.encode(self._ask(function, events))), self.profile)
