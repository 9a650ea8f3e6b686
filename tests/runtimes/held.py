"""Hold a runtime of the tests to the laws, as ``verify`` does, and what several of these tests hold it to."""

from breaking import doubles

from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime

from .lifecycle import attended, compacting, deciding, hosting, limited, pausing

ALL = selected(["runtime"])
FEW = 6
"""Enough for the right ones: each law that can has found its evidence after 5; teeth/variants has them at length."""
MORE = 20
"""Where what a law looks for is rare: without tools, a run to the limit of its rounds is the 15th."""
HASH_SEED = 4321

DECIDED = {law for module in (deciding, pausing) for _, broken in doubles(module) for law in broken}
ATTENDED = {law for _, broken in doubles(attended) for law in broken}
COMPACTED = {law for _, broken in doubles(compacting) for law in broken}
LIMITED = {law for _, broken in doubles(limited) for law in broken}
SIDE_BY_SIDE = {law.name for law in ALL if "policy busy=concurrent" in law.needs}
DELEGATED = {law.name for law in ALL if "sub-agents" in law.needs}
HOSTED = {law for _, broken in doubles(hosting) for law in broken}
LIFECYCLE = DECIDED | COMPACTED | LIMITED | ATTENDED | SIDE_BY_SIDE | DELEGATED
"""Laws of which a runtime that does nothing of the lifecycle's but keep sessions gives no evidence."""

HISTORIES = {
    "aborted, its texts": {"abortedResponse": "texts"},
    "aborted, nothing": {"abortedResponse": "drop"},
    "aborted, nothing, nor its calls": {"abortedResponse": "drop-with-calls", "tools": "parallel"},
    "released, nothing, nor its calls": {"abortedResponse": "drop-with-calls", "abortEnds": "when-released"},
    "failed, its texts": {"failedResponse": "texts", "retries": 1},
    "failed, nothing": {"failedResponse": "drop", "retries": 1},
    "unread later": {"unread": "later"},
    "unread nowhere": {"unread": "drop", "abortEnds": "when-released"},
    "texts first": {"itemOrder": "texts-first"},
    "texts last": {"itemOrder": "texts-last"},
    "results as called": {"resultOrder": "as-called", "tools": "parallel"},
    "results paired": {"resultOrder": "paired", "tools": "parallel"},
    "merged": {"adjacent": "merged"},
    "failures told": {"failures": "told"},
    "failures in its own words": {"failures": "own-words"},
    "long results cut": {"maxResultCharacters": 3000, "tools": "parallel"},
    "all": {
        "abortedResponse": "drop",
        "failedResponse": "texts",
        "unread": "later",
        "itemOrder": "texts-first",
        "resultOrder": "as-called",
        "adjacent": "merged",
        "tools": "parallel",
        "steerLands": "after-call",
    },
}
"""What may be shown in more than one way."""


def verified(runtime, laws=ALL, **options):
    """The result of ``verify``, and the counterexamples."""
    return verify_runtime(runtime, laws, hash_seed=HASH_SEED, **options)


def failing_why(result):
    """Law → why it neither passes nor is skipped."""
    return {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}}


def laws_that(result, verdict):
    """The laws with a verdict."""
    return {law.law for law in result.laws if law.verdict == verdict}
