"""What an implementation may write to harm whoever shows it, and what a harmless output is."""

import re
from unicodedata import category

COMMANDS = (
    "::error::owned",
    "  ::set-output name=a::b",
    "\u3000::add-mask::a",
    "##[group]owned",
    "a ##vso[task.setvariable variable=a]b",
    "##teamcity[buildProblem description='owned']",
    "section_start:0:owned\r\x1b[0K",
)
"""Lines that a CI service obeys: GitHub Actions, Azure Pipelines, TeamCity and GitLab."""
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066\u200b\r\x00"
"""A terminal's title, a cleared screen, a colour, bidi controls, a carriage return."""
TEXT = "\n".join(["", ESCAPES, *COMMANDS])
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_OBEYED = re.compile(r"^[^\S\n]*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)


def harm(output):
    """List the characters that are not seen, and the commands of CI services, in *output*."""
    unseen = [character for character in output if character != "\n" and category(character) in _UNSEEN]
    return [*unseen, *_OBEYED.findall(output)]
