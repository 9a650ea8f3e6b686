"""The clauses of the four runtimes that laws name, in our own words, by identifier.

``TM`` is the single-chat turn, ``EF`` the event flow, ``BED`` the conversation state machine, ``RS`` the request
sequence; a ``D`` is a decision on what a source left open.
"""

from collections.abc import Mapping
from typing import Final

PROMISES: Final[Mapping[str, str]] = {
    "TM-2.2": "A turn is received by checking its fields and then taking the session's lock.",
    "TM-3.1": "A turn has exactly one terminal status.",
    "TM-3.3": "Execution is bounded in tokens, tool calls and time.",
    "TM-4.1": "A tool call passes policy and schema before it runs.",
    "TM-4.2": "A tool's failure is structured, not a crash.",
    "TM-5.1": "By default, what comes during a turn waits for the next.",
    "TM-5.2": "Under the steer policy it is injected after a finished tool batch, before the next inference.",
    "TM-D6": "A restart gives each unanswered call of an open turn a synthetic result, then one terminal.",
    "EF-1": "A request is a loop of a bounded number of iterations.",
    "EF-5": "One model call is one response block.",
    "EF-8": "No block comes twice, in whatever order its events arrive.",
    "BED-001b": "Identical inputs give identical outputs.",
    "BED-002a": "A message while idle: the model is awaited.",
    "BED-002b": "That message is what the model gets.",
    "BED-002c": "A message while busy is rejected.",
    "BED-003a": "A text that ends the turn returns the agent to idle.",
    "BED-003b": "The model's response is kept.",
    "BED-003c": "A response that uses tools leads to their execution.",
    "BED-003d": "Tools are queued one after the other in the order in which they were asked for.",
    "BED-004a": "Tools run one after the other, in order.",
    "BED-004b": "Each tool is finished before the next starts.",
    "BED-004c": "When all tools are finished the model is awaited.",
    "BED-004d": "The model gets all results.",
    "BED-004e": "A tool's failure is a result like others.",
    "BED-004f": "The model deals with a tool's failure.",
    "BED-005a": "A cancel during inference aborts the request at once.",
    "BED-005b": "A cancelled agent is idle.",
    "BED-005c": "Nothing of a cancelled response is kept.",
    "BED-005d": "A cancel during tools interrupts the one that runs.",
    "BED-005f": "The call that was running gets a synthetic result.",
    "BED-005g": "So does each call that was skipped.",
    "BED-005i": "A cancel does not wait behind the operation that it cancels.",
    "BED-005j": "A cancel outranks the completion.",
    "BED-005k": "The whole history is kept, synthetic results included.",
    "BED-006a": "A retryable failure of the model is retried, a bounded number of times.",
    "BED-006d": "When the retries are used up, that is an error.",
    "BED-006f": "A failure that cannot be retried is an error at once.",
    "BED-006h": "A message after an error: the model is awaited.",
    "BED-006i": "The conversation goes on after an error.",
    "BED-011a": "Changes of state go to every client.",
    "BED-D3": "A cancel while nothing runs has no effect.",
    "BED-D4": "Outputs are logged when the response is complete; an aborted or retried attempt logs none.",
    "RS-3.2": "A history that was cut shows no result without its call.",
    "RS-4.1": "Rounds go on until no tool is called, up to a bound.",
    "RS-5.1": "A failing model ends the loop as an error.",
    "RS-5.3": "A tool's failure goes to the model as the tool's output, and the loop goes on.",
    "RS-6": "Every path ends with the end event: once, and last.",
}
