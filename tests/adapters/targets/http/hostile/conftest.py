"""The servers of this folder can be imported by their bare names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
