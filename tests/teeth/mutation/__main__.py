"""``python -m mutation``: see running.py."""

import sys

from mutation.running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
