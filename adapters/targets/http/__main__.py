"""``python -m turncheck.adapters.targets.http URL``: the worker of an HTTP target."""

import sys

from .options import parse
from .worker import main

if __name__ == "__main__":
    try:
        options = parse(sys.argv[1:])
    except ValueError as error:
        sys.exit(f"turncheck: {error}")
    sys.exit(main(options))
