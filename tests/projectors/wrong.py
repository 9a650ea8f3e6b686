"""Projectors with one fault each, which names them; the docstring is the symptom. Each is a ``python:`` target."""

import itertools
import os
import time
from typing import Any

from breaking import breaks

from .plain import Plain

# ---- the queue ----


@breaks("follow-up-fifo", "RC-7.5")
class LastInFirstOut(Plain):
    """The youngest follow-up is promoted first."""

    def next_waiting(self):
        return self.queue.pop()


@breaks("follow-up-fifo", "RC-7.5")
class TwoFollowUpsInOneCycle(Plain):
    """All waiting follow-ups are promoted at once, and the others become steers of the first."""

    def next_waiting(self):
        first, *others = self.queue
        self.others = others
        self.queue.clear()
        return first

    def open(self, kind, root):
        super().open(kind, root)
        if kind == "followUp":
            self.cycle.steps += [{"type": "steer", "at": at} for at in self.others]
            self.cycle.fed += self.others


@breaks("follow-up-fifo", "RC-4.1", "RC-5.4")
class FollowUpSteersToo(Plain):
    """A queued follow-up is also shown in the running cycle."""

    def enqueue(self):
        super().enqueue()
        self.steer()


@breaks("follow-up-fifo", "RC-7.5")
class PromotedAtTheNextMessage(Plain):
    """A follow-up waits for the next user message to be promoted."""

    def fate(self, reason):
        return "hold"

    def user_message(self, event):
        if self.cycle is None and self.queue:
            self.open("followUp", self.next_waiting())
        super().user_message(event)


@breaks("order", "X-7")
class ShowsTheQueueNewestFirst(Plain):
    """``queued`` is in reverse order."""

    def result(self):
        return super().result() | {"queued": list(self.queue)[::-1]}


@breaks("queue-fate", "RC-D6")
class DropsHeldQueue(Plain):
    """A queue that should be held is silently discarded."""

    def fate(self, reason):
        fate = super().fate(reason)
        if fate == "hold":
            self.queue.clear()
        return fate


@breaks("queue-fate", "RC-D6")
class HoldsAfterError(Plain):
    """After an error the queue is held, whatever the policy."""

    def fate(self, reason):
        return "hold" if reason == "error" else super().fate(reason)


@breaks("queue-fate", "RC-D6")
class PromotesAfterDrop(Plain):
    """Drop discards all follow-ups except the oldest, which is promoted."""

    def fate(self, reason):
        fate = super().fate(reason)
        if fate == "drop" and self.queue:
            first, *others = self.queue
            self.dropped += others
            self.queue.clear()
            self.queue.append(first)
            return "promote"
        return fate


@breaks("queue-fate", "RC-D6")
class InterruptedLosesQueue(Plain):
    """An interrupt empties the queue."""

    def stop(self, reason):
        if reason == "interrupted":
            self.queue.clear()
        super().stop(reason)


@breaks("queue-fate", "RC-D6")
class ForgetsDropped(Plain):
    """Dropped follow-ups are not reported."""

    def drop(self):
        self.queue.clear()


@breaks("conservation", "X-7")
class KeepsWhatItDropped(Plain):
    """Dropped follow-ups also stay in the queue."""

    def drop(self):
        self.dropped += self.queue


@breaks("queue-fate", "RC-D6")
class HeldIsPromotedWithoutMessage(Plain):
    """Hold is read as promote."""

    def fate(self, reason):
        fate = super().fate(reason)
        return "promote" if fate == "hold" else fate


@breaks("queue-fate", "RC-D6")
class IgnoresPolicies(Plain):
    """Policies are accepted and ignored."""

    def __init__(self, policies=None):
        super().__init__()


# ---- messages and cycles ----


@breaks("steer-stays", "RC-4.2")
class SteerBecomesRoot(Plain):
    """A steer is queued like a follow-up."""

    def is_steer(self, event):
        return False


@breaks("steer-stays", "RC-3.2")
class FollowUpsSteer(Plain):
    """Every active message steers."""

    def is_steer(self, event):
        return True


@breaks("steer-stays", "RC-3.2")
class IgnoresWhileActive(Plain):
    """A message without delivery is always a follow-up."""

    def is_steer(self, event):
        return event.delivery == "steer"


@breaks("steer-stays", "RC-4.2")
class SteerLeaksIntoNextCycle(Plain):
    """A steer without an output after it is shown in the next cycle."""

    leaked: tuple[Any, ...] = ()

    def close(self, reason):
        if self.cycle.steps[-1]["type"] == "steer":
            self.leaked = (self.cycle.steps.pop(),)
            self.cycle.fed.remove(self.leaked[0]["at"])
        super().close(reason)

    def open(self, kind, root):
        super().open(kind, root)
        self.cycle.steps += self.leaked
        self.cycle.fed += [step["at"] for step in self.leaked]
        self.leaked = ()


@breaks("steer-stays", "RC-4.2", "RC-6.2")
class ForgetsSteers(Plain):
    """A steer is shown nowhere."""

    def steer(self):
        pass


@breaks("one-root", "RC-3.1", "RC-7.2")
class DirectKeepsDelivery(Plain):
    """A message that asks to follow up is a follow-up, even while idle."""

    def user_message(self, event):
        if self.cycle is None and event.delivery == "followUp":
            self.open("followUp", self.at)
        else:
            super().user_message(event)


@breaks("anomalies-exact", "RC-D4")
class RejectsIdleSteers(Plain):
    """A steer while idle is an anomaly."""

    def user_message(self, event):
        if self.cycle is None and event.delivery == "steer":
            self.anomaly("outside-run", self.at)
        else:
            super().user_message(event)


@breaks("one-root", "RC-5.1")
class PromotedIsDirect(Plain):
    """A promoted follow-up is called direct."""

    def open(self, kind, root):
        super().open("direct", root)


@breaks("one-root", "RC-5.1")
class RootTwice(Plain):
    """A promoted root is also a steer of its own cycle."""

    def open(self, kind, root):
        super().open(kind, root)
        if kind == "followUp":
            self.cycle.steps.append({"type": "non-steer", "at": root})


@breaks("one-root", "RC-7.1")
class StartsInARun(Plain):
    """What the agent says before any message opens a cycle of its own."""

    def outside_run(self, symbol, event):
        if self.closed or symbol != "text":
            super().outside_run(symbol, event)
        else:
            self.open("direct", self.at)
            self.text(event)


@breaks("boundary-equivalence", "RC-2", "X-4")
class ErrorIsNotABoundary(Plain):
    """An error does not end the run."""

    def stop(self, reason):
        if reason != "error":
            super().stop(reason)


@breaks("one-terminal", "RC-7.4")
class EveryStopCompletes(Plain):
    """The reason is always completed."""

    def close(self, reason):
        super().close("completed")


@breaks("one-terminal", "RC-5.3", "X-3")
class SecondTerminalOverwrites(Plain):
    """A second stop becomes the stop of the cycle before."""

    def outside_run(self, symbol, event):
        if symbol == "run-stop" and self.closed:
            self.closed[-1].stop, self.closed[-1].reason = self.at, event.reason
        else:
            super().outside_run(symbol, event)


@breaks("one-terminal", "RC-7.4", "X-3")
class AcceptsAfterStop(Plain):
    """A text after the stop is put into the cycle that stopped."""

    def outside_run(self, symbol, event):
        if symbol == "text" and self.closed:
            self.cycle = self.closed[-1]
            self.text(event)
            self.cycle = None
        else:
            super().outside_run(symbol, event)


@breaks("closed-final", "RC-7.4")
class RewritesClosedCycles(Plain):
    """A late result is attached in the cycle that stopped, and still reported as an anomaly."""

    def outside_run(self, symbol, event):
        super().outside_run(symbol, event)
        if symbol == "tool-result" and self.closed and event.call_id in self.closed[-1].calls:
            self.closed[-1].calls[event.call_id]["result"] = self.at


@breaks("order", "X-7")
class ReverseCycles(Plain):
    """The newest cycle comes first."""

    def result(self):
        result = super().result()
        return result | {"cycles": result["cycles"][::-1]}


@breaks("conservation", "X-7")
class HidesTheOpenCycle(Plain):
    """A run that has not stopped is not shown."""

    def result(self):
        result = super().result()
        return result | {"cycles": [cycle for cycle in result["cycles"] if cycle["stop"] is not None]}


@breaks("closed-final", "RC-5.3", "RC-D9")
class ClosesAtTheEnd(Plain):
    """The log's end is taken for a stop."""

    def shown(self, cycle):
        shown = super().shown(cycle)
        return shown if shown["stop"] is not None else shown | {"stop": self.at, "reason": "completed"}


# ---- steps ----


@breaks("one-text-per-block", "RC-6.3")
class MergesTwoTexts(Plain):
    """A text right after a text goes into its block, and disappears."""

    def text(self, event):
        last = self.cycle.steps[-1]
        if last["type"] == "ai-block" and not last["groups"]:
            self.output(event)
        else:
            super().text(event)


@breaks("one-text-per-block", "RC-6.3")
class ReasoningAndAnswerInOneBlock(Plain):
    """An answer replaces the reasoning before it."""

    reasons = False

    def text(self, event):
        if self.reasons and self.cycle.steps[-1]["type"] == "ai-block" and event.kind == "assistant":
            self.cycle.steps[-1]["text"] = self.at
            self.output(event)
        else:
            super().text(event)
        self.reasons = event.kind == "reasoning"


@breaks("one-text-per-block", "RC-D1")
class BlockPerCall(Plain):
    """Every call opens its own block."""

    def opens_block(self):
        return super().opens_block() or bool(self.cycle.steps[-1]["groups"])


@breaks("one-text-per-block", "RC-D1")
class InventsATextForACall(Plain):
    """A call without a text before it is also its block's text."""

    def call(self, event):
        opens = self.opens_block()
        super().call(event)
        if opens:
            self.cycle.steps[-1]["text"] = self.at


@breaks("order", "RC-5.2")
class SteerDoesNotEndTheBlock(Plain):
    """A call after a steer goes into the block before it."""

    def steer(self):
        steps = self.cycle.steps
        super().steer()
        if len(steps) > 2 and steps[-2]["type"] == "ai-block":
            steps[-2:] = steps[:-3:-1]


@breaks("groups-maximal", "RC-6.4", "RC-D2")
class SplitsGroupAtResult(Plain):
    """A result ends the group."""

    def opens_group(self, groups, kind):
        return super().opens_group(groups, kind) or groups[-1]["calls"][-1]["result"] is not None


@breaks("order", "RC-5.2")
class GroupsAcrossTexts(Plain):
    """A call continues the last group of its class, though a text came between."""

    def call(self, event):
        blocks = [step for step in self.cycle.steps if step["type"] == "ai-block" and step["groups"]]
        kind = self.group(event.tool)
        if not blocks or blocks[-1]["groups"][-1]["type"] != kind:
            super().call(event)
            return
        call = {"at": self.at, "result": None}
        blocks[-1]["groups"][-1]["calls"].append(call)
        self.cycle.calls[event.call_id] = call
        self.output(event)


@breaks("order", "RC-5.2")
class GroupsNotAdjacent(Plain):
    """All calls of one class in a block form one group, adjacent or not."""

    def steps(self, cycle):
        return [
            step | {"groups": self.merged(step["groups"])} if step["type"] == "ai-block" else step
            for step in cycle.steps
        ]

    def merged(self, groups):
        kinds = dict.fromkeys(group["type"] for group in groups)
        return [
            {"type": kind, "calls": [call for group in groups if group["type"] == kind for call in group["calls"]]}
            for kind in kinds
        ]


@breaks("groups-maximal", "RC-6.4")
class BashIsOther(Plain):
    """bash is of the other-group."""

    def group(self, tool):
        return "other-group" if tool == "bash" else super().group(tool)


@breaks("results-attached", "RC-6.5")
class ResultAttachedByOrder(Plain):
    """A result answers the oldest open call, whatever its id."""

    def attach(self, event):
        next(call for call in self.cycle.calls.values() if call["result"] is None)["result"] = self.at

    def is_answered(self, call_id):
        return all(call["result"] is not None for call in self.cycle.calls.values())


@breaks("one-text-per-block", "RC-6.5")
class ResultIsAStep(Plain):
    """A result is also a block of its own."""

    def attach(self, event):
        super().attach(event)
        self.cycle.steps.append({"type": "ai-block", "text": self.at, "groups": []})


@breaks("results-attached", "RC-6.5")
class LeavesResultsOut(Plain):
    """Results are attached to nothing."""

    def shown(self, cycle):
        for call in cycle.calls.values():
            call["shown"], call["result"] = call["result"], None
        return super().shown(cycle)


# ---- rounds ----


@breaks("rounds", "RC-6.1", "RC-D3")
class RoundPerOutput(Plain):
    """Every output is a round."""

    def opens_round(self, response):
        return True


@breaks("rounds", "RC-D3")
class RoundsOnlyAtInputs(Plain):
    """Only inputs divide rounds, response ids do not."""

    def opens_round(self, response):
        return bool(self.cycle.fed)


@breaks("rounds", "RC-D3")
class RoundsOnlyAtIds(Plain):
    """Only response ids divide rounds, inputs do not."""

    def opens_round(self, response):
        return response != self.cycle.response


@breaks("rounds", "RC-D3")
class FollowUpSplitsRound(Plain):
    """A queued follow-up begins a round."""

    split = False

    def enqueue(self):
        super().enqueue()
        self.split = True

    def opens_round(self, response):
        split, self.split = self.split, False
        return split or super().opens_round(response)


@breaks("rounds", "RC-D3")
class RejectedSplitsRound(Plain):
    """A rejected event begins a round."""

    split = False

    def anomaly(self, kind, at):
        super().anomaly(kind, at)
        self.split = True

    def opens_round(self, response):
        split, self.split = self.split, False
        return split or super().opens_round(response)


@breaks("rounds", "RC-6.1")
class ForgetsLeftoverInputs(Plain):
    """Inputs without an output after them are in no round."""

    def rounds(self, cycle):
        return cycle.rounds or super().rounds(cycle)


@breaks("rounds", "RC-6.1")
class InputsOfTheRoundBefore(Plain):
    """A result is an input of the round that made its call."""

    def tool_result(self, event):
        self.attach(event)
        self.cycle.rounds[-1]["inputs"].append(self.at)


@breaks("views-agree", "RC-5.2", "RC-6.1")
class ViewsDisagree(Plain):
    """Steers are steps, and in no round."""

    def steer(self):
        super().steer()
        self.cycle.fed.pop()


@breaks("order", "X-7")
class NewestInputFirst(Plain):
    """A round's inputs are in reverse order."""

    def rounds(self, cycle):
        return [part | {"inputs": part["inputs"][::-1]} for part in super().rounds(cycle)]


@breaks("conservation", "X-7", "RC-7.3")
class ForgetsCalls(Plain):
    """A call is accepted and shown nowhere."""

    def call(self, event):
        self.cycle.calls[event.call_id] = {"at": self.at, "result": None}


# ---- anomalies ----


@breaks("anomalies-exact", "RC-D4")
class CallIdsAreGlobal(Plain):
    """A call id of an earlier cycle is a duplicate."""

    def is_known(self, call_id):
        return super().is_known(call_id) or any(call_id in cycle.calls for cycle in self.closed)

    def is_answered(self, call_id):
        return call_id not in self.cycle.calls or super().is_answered(call_id)


@breaks("anomalies-exact", "RC-D4")
class AcceptsSecondResults(Plain):
    """A second result replaces the first."""

    def is_answered(self, call_id):
        return False


@breaks("anomalies-exact", "RC-D4")
class AcceptsUsedCallIds(Plain):
    """A call id once answered may be used again in its cycle."""

    def objection(self, symbol, event):
        objection = super().objection(symbol, event)
        return None if objection == "duplicate-call" and self.is_answered(event.call_id) else objection


@breaks("anomalies-exact", "RC-D4")
class ForgetsUnanswered(Plain):
    """A call that the stop left unanswered is not reported."""

    def remark_unanswered(self):
        pass


@breaks("anomalies-exact", "RC-D4")
class TellsOneUnanswered(Plain):
    """Only the first of several unanswered calls is reported."""

    def remark_unanswered(self):
        told = len(self.anomalies)
        super().remark_unanswered()
        del self.anomalies[told + 1 :]


@breaks("anomalies-exact", "RC-D4")
class ForgetsTruncated(Plain):
    """A log that ends in a run is fine."""

    def ending(self):
        return []


@breaks("anomalies-exact", "RC-D5")
class NullIsPresent(Plain):
    """An optional field that is null is malformed."""

    def read(self, value):
        optional = ("delivery", "id", "responseId", "detail", "isError", "synthetic")
        return super().read(
            {} if isinstance(value, dict) and any(value.get(key, 0) is None for key in optional) else value
        )


@breaks("anomalies-exact", "RC-D5")
class RejectsUnknownFields(Plain):
    """A field that the table does not have makes its event malformed."""

    known = (
        *("type", "source", "text", "content", "id", "delivery", "kind", "responseId", "callId", "tool", "arguments"),
        *("output", "isError", "synthetic", "reason", "detail", "requestId", "input", "message"),
    )

    def read(self, value):
        return super().read({} if isinstance(value, dict) and value.keys() - {*self.known} else value)


@breaks("anomalies-exact", "RC-D5")
class JudgesForeignFields(Plain):
    """A text that is no string makes any event malformed, even one whose type has no text."""

    def read(self, value):
        strange = isinstance(value, dict) and not isinstance(value.get("text", ""), str)
        return super().read({} if strange else value)


@breaks("total", "RC-D4")
class UnknownTypeRaises(Plain):
    """An unknown type raises an exception."""

    def read(self, value):
        event = super().read(value)
        if getattr(event, "name", None):
            raise KeyError(event.name)
        return event


@breaks("anomalies-exact", "RC-D5")
class UnreadableIsSkipped(Plain):
    """An unreadable line holds no position."""

    def take(self, value):
        if value is not None:
            super().take(value)


@breaks("anomalies-exact", "RC-1")
class ObservationsAreUnknown(Plain):
    """An observation is of unknown type."""

    def read(self, value):
        native = isinstance(value, dict) and value.get("type") in ("native", "fault", "model-request")
        return super().read({"type": "unheard"} if native else value)


# ---- what only looks alike ----


class Tolerant(Plain):
    """It mends what it reads."""

    def mended(self, event):
        return event

    def read(self, value):
        return super().read(self.mended(dict(value)) if isinstance(value, dict) else value)


@breaks("anomalies-exact", "RC-1")
class TypesWithoutCase(Tolerant):
    """The case of a type says nothing."""

    def mended(self, event):
        return event | ({"type": event["type"].lower()} if isinstance(event.get("type"), str) else {})


@breaks("anomalies-exact", "RC-D5")
class TrimsReasons(Tolerant):
    """Spaces around a reason say nothing."""

    def mended(self, event):
        return event | ({"reason": event["reason"].strip()} if isinstance(event.get("reason"), str) else {})


@breaks("anomalies-exact", "RC-D5")
class DeliveriesByPrefix(Tolerant):
    """A delivery that begins with steer is a steer."""

    def mended(self, event):
        return event | ({"delivery": "steer"} if str(event.get("delivery")).startswith("steer") else {})


@breaks("groups-maximal", "RC-6.4")
class ToolsByPrefix(Plain):
    """A tool whose name begins with read, ls, grep or find is of the read-group."""

    def group(self, tool):
        return "read-group" if tool.startswith(("read", "ls", "grep", "find")) else super().group(tool)


@breaks("groups-maximal", "RC-6.4")
class ToolsWithoutCase(Plain):
    """The case of a tool's name says nothing."""

    def group(self, tool):
        return super().group(tool.lower())


@breaks("anomalies-exact", "RC-D4")
class CallIdsWithoutCase(Tolerant):
    """The case of a call's id says nothing."""

    def mended(self, event):
        return event | ({"callId": event["callId"].lower()} if isinstance(event.get("callId"), str) else {})


# ---- content ----


@breaks("opaque-texts", "X-8")
class CancelledTextIsStop(Plain):
    """The answer "[cancelled]" ends the run."""

    def text(self, event):
        super().text(event)
        if event.text == "[cancelled]":
            self.stop("interrupted")


@breaks("opaque-texts", "X-8")
class EmptyTextIsNothing(Plain):
    """An empty answer is not shown."""

    def text(self, event):
        if event.text:
            super().text(event)


@breaks("opaque-ids", "X-8")
class IdsDecide(Plain):
    """A call whose id begins with c is the client's own, and is not shown."""

    def call(self, event):
        if not event.call_id.startswith("c"):
            super().call(event)


@breaks("opaque-ids", "X-8")
class LongIdsAreOther(Plain):
    """A call with a long id is of the other-group."""

    def call(self, event):
        self.long = len(event.call_id) > 20
        super().call(event)

    def group(self, tool):
        return "other-group" if self.long else super().group(tool)


@breaks("opaque-ids", "X-8")
class UnansweredByName(Plain):
    """Unanswered calls are reported in the order of their ids."""

    def remark_unanswered(self):
        self.cycle.calls = dict(sorted(self.cycle.calls.items()))
        super().remark_unanswered()


@breaks("opaque-ids", "X-8")
class ResponsesByPrefix(Plain):
    """Only the first letter of a response id counts."""

    def output(self, event):
        super().output(type(event)(kind=event.kind, response_id=event.response_id and event.response_id[0]))


@breaks("opaque-ids", "X-8")
class EmptyIdIsAbsent(Plain):
    """A response id that is the empty string counts as none."""

    def opens_round(self, response):
        return super().opens_round(response or None)

    def output(self, event):
        super().output(event)
        self.cycle.response = self.cycle.response or None


@breaks("opaque-texts", "X-8")
class ArgumentsDecide(Plain):
    """A call with arguments is of the other-group."""

    def read(self, value):
        self.arguments = isinstance(value, dict) and value.get("arguments")
        return super().read(value)

    def group(self, tool):
        return "other-group" if self.arguments else super().group(tool)


# ---- again, elsewhere, in chunks ----


@breaks("hash-seed", "RC-7.6", "X-2")
class HashOrder(Plain):
    """The groups of a block are sorted by a set of their names."""

    def steps(self, cycle):
        return [self.shuffled(step) if step["type"] == "ai-block" else step for step in cycle.steps]

    def shuffled(self, block):
        names = list({group["type"] for group in block["groups"]})
        return block | {"groups": sorted(block["groups"], key=lambda group: names.index(group["type"]))}


@breaks("deterministic", "RC-7.6", "X-2")
class CountsItsCalls(Plain):
    """Every seventh projection of the class lacks its last anomaly."""

    count = itertools.count(1)

    def project(self, events, policies=None):
        result = super().project(events, policies)
        return result if next(CountsItsCalls.count) % 7 else result | {"anomalies": result["anomalies"][:-1]}


@breaks("redelivery-changes-nothing", "L-N4")
class DoublesWhatComesAgain(Plain):
    """Events that are fed again are taken as new ones."""

    def new(self, events, start):
        return events


@breaks("redelivery-changes-nothing", "L-N4")
class BeginsAnewWhereTheStreamDoes(Plain):
    """A stream that comes again from its middle is taken for a whole session."""

    def new(self, events, start):
        if start is not None and start <= self.at:
            self.reset()
        return events


@breaks("redelivery-changes-nothing", "L-N4")
class SkipsTheWholeChunk(Plain):
    """A chunk that begins with a known event is passed over, with the new events behind it."""

    def new(self, events, start):
        return [] if start is not None and start <= self.at else events


@breaks("redelivery-changes-nothing", "L-N4")
class KnowsOnlyTheLastEvent(Plain):
    """A repeat is passed over where it is one event, and doubled where it is more."""

    def new(self, events, start):
        return events[start == self.at :]


@breaks("chunking", "X-2")
class ProjectSeesWhatWasFed(Plain):
    """The projection of a log begins with the queue left by feeding."""

    def project(self, events, policies=None):
        result = super().project(events, policies)
        return result | {"queued": sorted({*self.queue, *result["queued"]})}


@breaks("chunking", "X-2")
class ResetForgetsTheQueue(Plain):
    """A reset leaves the queue as it was."""

    def reset(self):
        queue = getattr(self, "queue", None)
        super().reset()
        self.queue = queue or self.queue


@breaks("input-untouched", "RC-7.6")
class ChangesItsInput(Plain):
    """Every event gets a seq."""

    def take(self, value):
        if isinstance(value, dict):
            value["seq"] = self.at
        super().take(value)


@breaks("input-untouched", "RC-7.6")
class ChangesWhatItIsFed(Plain):
    """Fed events are removed from the caller's list."""

    def feed(self, events, start=None):
        while events:
            self.take(events.pop(0))


@breaks("chunking", "X-2")
class RemembersWhatWasFed(Plain):
    """A reset forgets only the positions."""

    def reset(self):
        anomalies = getattr(self, "anomalies", [])
        super().reset()
        self.anomalies = anomalies


@breaks("chunking", "X-2")
class ChunkBoundaryClosesCycle(Plain):
    """A chunk's end ends the run."""

    def feed(self, events, start=None):
        super().feed(events, start)
        if self.cycle is not None:
            self.stop("completed")


@breaks("chunking", "X-2")
class ChunkBoundaryForgetsCalls(Plain):
    """Calls of an earlier chunk are unknown."""

    def feed(self, events, start=None):
        if self.cycle is not None:
            self.cycle.calls = {}
        super().feed(events)


@breaks("chunking", "X-2")
class AskingEndsTheRun(Plain):
    """Asking for the projection of fed events closes the cycle."""

    def project(self, events, policies=None):
        result = super().project(events, policies)
        if not events:
            self.cycle = None
        return result


@breaks("chunking", "X-2")
class EmptyChunkRaises(Plain):
    """A chunk without events raises an exception."""

    def feed(self, events, start=None):
        assert events
        super().feed(events)


# ---- late ----


@breaks("follow-up-fifo", "RC-7.5")
class LastInFirstOutAfterThreeCycles(Plain):
    """From the fourth cycle on, the youngest follow-up is promoted first."""

    def next_waiting(self):
        return self.queue.pop() if len(self.closed) > 3 else super().next_waiting()


@breaks("steer-stays", "RC-4.2")
class FourthSteerIsQueued(Plain):
    """The fourth steer of a cycle is a follow-up."""

    def is_steer(self, event):
        steers = sum(step["type"] == "steer" for step in self.cycle.steps)
        return steers != 3 and super().is_steer(event)


@breaks("follow-up-fifo", "RC-7.5")
class FifthWaitingIsLost(Plain):
    """Four follow-ups wait at most; the fifth is lost."""

    def enqueue(self):
        if len(self.queue) < 4:
            super().enqueue()


@breaks("rounds", "RC-D3")
class ThirdRoundWithoutIdGoesOn(Plain):
    """The third round of a cycle, if it has no response id, absorbs the next one without."""

    def opens_round(self, response):
        third = len(self.cycle.rounds) == 3 and self.cycle.response is None and response is None
        return not third and super().opens_round(response)


@breaks("anomalies-exact", "RC-D4")
class CallIdsOfTheThirdCycleStay(Plain):
    """The call ids of the third cycle are never forgotten."""

    def is_known(self, call_id):
        return super().is_known(call_id) or any(call_id in cycle.calls for cycle in self.closed[2:3])

    def is_answered(self, call_id):
        return call_id not in self.cycle.calls or super().is_answered(call_id)


@breaks("queue-fate", "RC-D6")
class SecondHoldLosesQueue(Plain):
    """The second time that a queue is held, it is lost."""

    held = 0

    def fate(self, reason):
        fate = super().fate(reason)
        if fate == "hold" and self.queue:
            self.held += 1
            if self.held == 2:
                self.queue.clear()
        return fate


@breaks("queue-fate", "RC-D6")
class SecondDropKeepsQueue(Plain):
    """The second time that a queue is dropped, it stays."""

    def drop(self):
        if not self.dropped:
            super().drop()


@breaks("groups-maximal", "RC-6.4")
class TenthCallIsOther(Plain):
    """From the tenth call of a cycle on, tools are of the other-group."""

    def group(self, tool):
        return "other-group" if len(self.cycle.calls) > 8 else super().group(tool)


@breaks("anomalies-exact", "RC-D4")
class ThirdOpenCallIsForgotten(Plain):
    """Two calls are open at most: a third is accepted, and its result unknown."""

    def is_known(self, call_id):
        opened = [name for name, call in self.cycle.calls.items() if call["result"] is None]
        return super().is_known(call_id) and call_id not in opened[2:]


@breaks("boundary-equivalence", "RC-2")
class ThirdErrorIsNotABoundary(Plain):
    """The third stop by error is ignored."""

    def stop(self, reason):
        if reason == "error" and sum(cycle.reason == "error" for cycle in self.closed) == 2:
            return
        super().stop(reason)


@breaks("anomalies-exact", "RC-D4")
class FifthCycleHasNoTruncation(Plain):
    """From the fifth cycle on, a log that ends in a run is fine."""

    def ending(self):
        return super().ending() if len(self.closed) < 4 else []


@breaks("anomalies-exact", "RC-D4")
class SixthAnomalyIsForgotten(Plain):
    """Only five anomalies are reported."""

    def anomaly(self, kind, at):
        if len(self.anomalies) < 5:
            super().anomaly(kind, at)


@breaks("one-text-per-block", "RC-6.3")
class FifthTextMerges(Plain):
    """The fifth text of a cycle goes into the previous block, if that has no calls."""

    def text(self, event):
        blocks = [step for step in self.cycle.steps if step["type"] == "ai-block"]
        if len(blocks) == 4 and self.cycle.steps[-1] is blocks[-1] and not blocks[-1]["groups"]:
            self.output(event)
        else:
            super().text(event)


@breaks("conservation", "X-7")
class PositionsEndAtForty(Plain):
    """Events after the fortieth of a session are not read."""

    def take(self, value):
        if self.at < 39:
            super().take(value)


@breaks("one-root", "RC-5.1")
class ThirdPromotionInARowIsDirect(Plain):
    """The third promotion in a row is called direct."""

    def open(self, kind, root):
        row = [cycle.kind for cycle in self.closed[-2:]]
        super().open("direct" if row == ["followUp", "followUp"] else kind, root)


@breaks("chunking", "X-2")
class FedTwentyClosesCycle(Plain):
    """The twentieth chunk begins with an idle agent."""

    chunks = 0

    def feed(self, events, start=None):
        self.chunks += 1
        if self.chunks == 20:
            self.cycle = None
        super().feed(events)

    def reset(self):
        super().reset()
        self.chunks = 0


# ---- functions ----


@breaks("equals-reference", "RC-7")
def empty(events, policies=None):
    """Nothing is ever projected."""
    return {"cycles": [], "queued": [], "dropped": [], "anomalies": []}


@breaks("total", "RC-D4")
def raises(events, policies=None):
    """Every log raises an exception."""
    raise RuntimeError("not today")


def hangs(events):
    """The first log is never answered."""
    time.sleep(600)


def dies(events):
    """The first log ends the process."""
    os._exit(3)


def rubbish(events):
    """The answer is no projection."""
    return {"cycles": 5}
