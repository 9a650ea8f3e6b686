"""How targets are fuzzed: the process of one target, what it traces, how inputs are changed, and what is kept."""
