"""Runtimes for the tests: one that conforms, and wrong ones with one fault each."""
