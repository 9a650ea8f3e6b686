"""What a law needs of a target, against what its profile declares."""

from turncheck.adapters.protocol.messages import Profile

from ..laws.law import Law


def missing(law: Law, profile: Profile) -> list[str]:
    """What *law* needs and the profile does not declare; of ``steps or rounds`` one is enough."""
    return [need for need in law.needs if not any(_has(one, profile) for one in need.split(" or "))]


def _has(need: str, profile: Profile) -> bool:
    """A capability, or ``policy NAME``, or ``machine NAME``; ``machine`` is any."""
    kind, _, name = need.partition(" ")
    if kind == "policy":
        return name in profile.policies
    if kind == "machine":
        return profile.machine == name if name else profile.machine is not None
    return profile.can(need)
