"""``python -m turncheck.conformance``: the command line."""

from .cli.group import main

if __name__ == "__main__":
    main()
