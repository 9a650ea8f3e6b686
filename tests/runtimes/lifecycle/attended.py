"""Runtimes that conform and tell clients what happens, each in its way, and wrong ones with one fault each."""

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import Client, ModelFail, ResetOptions, Step, TimerAwaited

from ..right import Right

UNTOLD = {"model-request", "native"}


class Attended(Right, disconnect="ignored"):
    """Clients are told each event as it comes, by its number; one that joins hears from its cursor on, or all."""

    def __init_subclass__(cls, **policies):
        super().__init_subclass__(**{"disconnect": "ignored"} | policies)

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "clients"))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.heard, self.there = [], {}
        return super().reset(options)

    def step(self):
        told = {name: tuple(events) for name, events in self.there.items()}
        self.there = {name: [] for name in self.there}
        return Step(tuple(self.events), tuple(self.awaiting()), self.refused, clients=told)

    def take(self, stimulus):
        match stimulus:
            case Client(action="join", client_id=name):
                self.there[name] = []
                self.welcome(name, stimulus.cursor)
            case Client(client_id=name) if name in self.there:
                del self.there[name]
                self.left(name)
            case Client():
                pass
            case _:
                super().take(stimulus)

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind not in UNTOLD:
            self.heard.append(self.events[-1])
            for name in [*self.there]:
                self.tell(name, len(self.heard) - 1)

    def tell(self, name, at):
        """Tell a client the event at a place."""
        self.there[name].append(self.heard[at] | {"cursor": f"{at + 1}"})

    def welcome(self, name, cursor):
        for at in range(self.known(name, cursor), len(self.heard)):
            self.tell(name, at)

    def known(self, name, cursor):
        """How many events the client has been told."""
        return int(cursor or 0)

    def left(self, name):
        """A client has left."""


class AbortsWhenLeft(Attended, disconnect="abort"):
    """A client that leaves aborts the run."""

    def left(self, name):
        self.abort()


class Snapshots(Attended):
    """Who joins is shown the whole conversation at once, in its sum: texts joined, results at their calls, no ends."""

    def welcome(self, name, cursor):
        events = list[dict[str, object]]()
        results = {one["callId"]: one for one in self.heard if one["type"] == "tool-result"}
        for one in self.summed():
            last = events[-1] if events else {}
            if one["type"] in {"run-stop", "tool-result"}:
                continue
            if one["type"] == last.get("type") == "agent-output" and one["kind"] == last["kind"] == "assistant":
                events[-1] = last | {"text": last["text"] + one["text"]}
            else:
                events.append({name: value for name, value in one.items() if name != "responseId"})
            if one.get("callId") in results:
                events.append(results[one["callId"]])
        cursor = f"{len(self.heard)}"
        self.there[name].append({"type": "snapshot", "events": events, "active": self.active, "cursor": cursor})

    def summed(self):
        """The events of which a snapshot is the sum."""
        return self.heard


class ShowsTheLastRun(Snapshots):
    """Who joins anew is shown the open run, or else the last one; who comes back is told the rest."""

    def welcome(self, name, cursor):
        if cursor is None:
            super().welcome(name, cursor)
        else:
            Attended.welcome(self, name, cursor)

    def summed(self):
        return self.heard[self.heard.index(self.root) :] if self.heard else ()

    def start(self, root):
        self.root = next(one for one in self.heard if one.get("id") == root.id)
        super().start(root)


class KeepsConnectionsAlive(Attended):
    """While a client is there, a timer waits to send it a sign of life."""

    def awaiting(self):
        yield from super().awaiting()
        if self.there:
            yield TimerAwaited(due=15.0)


class ShowsAllAgain(Attended):
    """Each client is shown the whole conversation after each step, as a page that draws itself anew."""

    def step(self):
        whole = {"type": "snapshot", "events": list(self.heard), "active": self.active}
        self.there = {name: [whole] for name in self.there}
        return super().step()


# ---- wrong ones ----


@breaks("returning-client-misses-nothing", "L-N1")
class TellsAllAgain(Attended):
    """Who comes back is told everything from the start: its texts stand there twice."""

    def known(self, name, cursor):
        return 0


@breaks("returning-client-misses-nothing", "L-N1")
class TellsTheNewsAlone(Attended):
    """What happened while a client was away is never told to it."""

    def known(self, name, cursor):
        return len(self.heard) if cursor else 0


@breaks("returning-client-misses-nothing", "L-N1")
class CountsFromOne(Attended):
    """The cursor is taken for the number of the next event: one is missing."""

    def known(self, name, cursor):
        return int(cursor) + 1 if cursor else 0


@breaks("returning-client-misses-nothing", "L-N1")
class ForgetsWhatWasCut(Attended):
    """What was said of a response before its stream broke is not kept for those who were away."""

    def take(self, stimulus):
        self.before = len(self.heard)
        super().take(stimulus)
        if isinstance(stimulus, ModelFail):
            self.broken = self.before, len(self.heard)

    def reset(self, *options):
        self.broken = 0, 0
        return super().reset(*options)

    def welcome(self, name, cursor):
        first, end = self.broken
        for at in range(self.known(name, cursor), len(self.heard)):
            if not first <= at < end or not cursor:
                self.tell(name, at)


@breaks("joining-client-caught-up", "L-N2", "BED-011c")
class JoinsAtTheNextEvent(Attended):
    """Who joins anew is told what happens from then on, and not what is running."""

    def known(self, name, cursor):
        return int(cursor) if cursor else len(self.heard)


@breaks("joining-client-caught-up", "L-N2")
class ShowsWorkingForEver(Snapshots):
    """A snapshot says that a run is open, also where the last one is over."""

    def welcome(self, name, cursor):
        super().welcome(name, cursor)
        self.there[name][-1]["active"] = bool(self.heard)


@breaks("joining-client-caught-up", "L-N2")
class ShowsWhatIsStoredAlone(Snapshots):
    """A snapshot is what was stored: nothing of the run that is open."""

    def summed(self):
        ends = [at for at, one in enumerate(self.heard) if one["type"] == "run-stop"]
        return self.heard[: ends[-1] + 1] if ends else ()


@breaks("clients-see-the-same", "L-N2", "BED-011a")
class OneListensAtATime(Attended):
    """Only the client that joined last is told anything more."""

    def tell(self, name, at):
        if name == [*self.there][-1]:
            super().tell(name, at)


@breaks("clients-see-the-same", "L-N2", "BED-011a")
class ErrorsReachTheFirstAlone(Attended):
    """The end of a run that failed is told to the client that joined first, and the others show it as working."""

    def tell(self, name, at):
        if self.heard[at].get("reason") != "error" or name == next(iter(self.there)):
            super().tell(name, at)


@breaks("leaving-changes-nothing", "L-N3")
class AbortsWithoutSayingSo(AbortsWhenLeft, disconnect="ignored"):
    """A client that leaves aborts the run, and the runtime says that it ignores that."""


@breaks("leaving-changes-nothing", "L-N3")
class GoesOnThoughItSaysAbort(Attended, disconnect="abort"):
    """A client that leaves is to abort the run, and the run goes on."""


@breaks("leaving-changes-nothing", "L-N3")
class ErrorsWithoutItsClients(Attended):
    """With its last client gone, the next event of a run has nowhere to go, and the run ends with that error."""

    def left(self, name):
        self.alone = not self.there

    def reset(self, *options):
        self.alone = False
        return super().reset(*options)

    def log_output(self, **fields):
        super().log_output(**fields)
        if self.alone and self.active and not self.there:
            self.stop("error", "the stream is closed")
