"""``python -m turncheck.adapters.targets.http URL``: the worker of an HTTP target."""

import sys

from turncheck.model.extras import MissingExtraError, needs_extra

from .options import parse


def _main() -> int:
    try:
        options = parse(sys.argv[1:])
        needs_extra("http", "an http target")
    except (ValueError, MissingExtraError) as error:
        sys.exit(f"turncheck: {error}")
    from .worker import main  # noqa: PLC0415 - it imports the extra

    return main(options)


if __name__ == "__main__":
    sys.exit(_main())
