"""Mutants of the projector, each held to the laws by ``verify`` alone: ``make mutation``, docs/mutation.md."""
