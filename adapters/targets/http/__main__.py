"""``python -m turncheck.adapters.targets.http URL``: the worker of an HTTP target, on stdin and stdout."""

import asyncio
import os
import sys

from turncheck.model.extras import MissingExtraError, needs_extra

from .model_endpoint.secret import Secret
from .options import parse


def _main() -> int:
    try:
        options = parse(sys.argv[1:])
        needs_extra("http", "an http target")
        secret = Secret.of(os.environ)
    except (ValueError, MissingExtraError) as error:
        sys.exit(f"turncheck: {error}")
    from .model_endpoint.port import StartError  # noqa: PLC0415 - these import the extra
    from .worker import work  # noqa: PLC0415

    try:
        asyncio.run(work(options, secret, sys.stdin.buffer, sys.stdout.buffer))
    except StartError as error:
        print(f"turncheck: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_main())
