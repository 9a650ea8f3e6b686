"""The policy of a session as data: rules on proposed calls, which the step Decide applies (TM-2.4, TM-4.1, TM-D1)."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

import msgspec

Decision: TypeAlias = Literal["allow", "deny-call", "deny-turn"]
"""``deny-call``: the call is an error result, and the turn goes on. ``deny-turn``: the turn ends as denied.

There is no ``ask``: a turn has nobody to ask. Calls wait for a person in the state ``paused`` of ``interaction``.
"""


class PolicyError(Exception):
    """A policy that is no list of rules: it denies nothing, so that nothing may begin under it."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The decision on calls of a tool in a chat; both are patterns as in a shell (``*``, ``?``, ``[ab]``)."""

    decision: Decision
    tool: str = "*"
    chat: str = "*"

    def fits(self, tool: str, chat: str) -> bool:
        """Return whether the rule is about this call; upper and lower case are told apart."""
        return fnmatchcase(tool, self.tool) and fnmatchcase(chat, self.chat)


class Policy:
    """Rules in order: the first that fits a call decides; a call that none fits is allowed.

    >>> policy = Policy([{"tool": "deploy*", "decision": "deny-turn"}, {"chat": "guest", "decision": "deny-call"}])
    >>> policy.decision("deploy_all", "guest"), policy.decision("read", "guest"), policy.decision("read", "main")
    ('deny-turn', 'deny-call', 'allow')
    """

    def __init__(self, rules: Any = ()) -> None:
        """*rules* are JSON objects with the fields of Rule. Raises PolicyError (TM-4.1)."""
        try:
            self._rules: Final[Sequence[Rule]] = msgspec.convert(rules, tuple[Rule, ...])
        except msgspec.ValidationError as error:
            raise PolicyError(
                f"the policy is no list of {{tool?, chat?, decision}}, with a decision of allow, deny-call or"
                f" deny-turn (ask is not a turn's, but the machine interaction's): {error}"
            ) from error

    def decision(self, tool: str, chat: str) -> Decision:
        """Decide on a call, by the names of its tool and its chat alone."""
        for rule in self._rules:
            if rule.fits(tool, chat):
                return rule.decision
        return "allow"
