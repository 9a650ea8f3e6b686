"""Defects that real runtimes had, each in a page of our own making, and mended one hunk away."""
