"""Planted."""

import sys

from turncheck.conformance.cli.printing.output import document, echo
from turncheck.model.rendering.printable import fill

NUMBER: int = "no number"
echo(sys.argv[0])
echo(f"{sys.argv[0]} is raw")
echo(fill("{}", sys.argv[0]) + sys.argv[0])
document(sys.argv[0])
echo(fill(f"{sys.argv[0]} is raw"))
