"""``python -m kills``: see running.py."""

import sys

from kills.running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
