"""Laws on what lies beyond the first turn."""
