"""The formats of recorded logs; ``registry.FORMATS`` is the one place to add another."""
