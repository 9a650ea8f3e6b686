"""What a target in this process is, beside the runtime: names, claims, and steps made of events."""

from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.model.core.stimuli import Refusal, Step

CAPABILITIES = (
    *("steer", "follow-up", "abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input"),
    *("raw-arguments", "call-ids", "together", "limits", "observer", "deaf", "clock", "serial", "terminal-events"),
)
POLICIES = {
    "busy": "followUp",
    "tools": "serial",
    "steerLands": "after-batch",
    "abortEnds": "at-once",
    "retries": 0,
    "queueAfterInterrupted": "promote",
    "queueAfterError": "promote",
    "steerHandover": "all",
    "followUpHandover": "one",
}


class Target:
    """What of a RuntimeTarget is the same for all. A subclass may declare a machine and policies of its own."""

    last_words: tuple[str, ...] = ()
    in_process = True

    machine, declares = None, POLICIES

    def __init_subclass__(cls, *, machine=None, **policies):
        cls.machine, cls.declares = machine, POLICIES | policies

    def __init__(self, *, machine=None, without=(), hash_seed=0, **policies):
        self.given = {"machine": machine, "without": without, **policies}
        self.hash_seed = hash_seed
        machine = machine or self.machine
        self.name = type(self).__name__
        self.implementation = Implementation(self.name, "1", "python")
        capabilities = tuple(one for one in CAPABILITIES if one not in without)
        self.profile = Profile(("runtime",), capabilities, machine, self.declares | policies)
        self.reset()

    def reset(self, options=None):
        raise NotImplementedError

    def take(self, stimulus):
        raise NotImplementedError

    def awaiting(self):
        raise NotImplementedError

    def again(self, hash_seed):
        return type(self)(**self.given | {"hash_seed": hash_seed})

    def run(self, word):
        return tuple(map(self.apply, word))

    def kill(self, *_):
        self.reset()

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def apply(self, stimulus):
        self.events, self.refused = [], None
        self.take(stimulus)
        return self.step()

    def step(self):
        return Step(tuple(self.events), tuple(self.awaiting()), self.refused)

    def refuse(self, why, message=""):
        self.refused = Refusal(why, message)
