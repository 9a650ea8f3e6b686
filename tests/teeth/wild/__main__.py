"""``python -m wild``: see running.py."""

import sys

from wild.running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
