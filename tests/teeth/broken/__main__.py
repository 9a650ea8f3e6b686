"""``python -m broken``: see running.py."""

import sys

from broken.running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
