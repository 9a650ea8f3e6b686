"""Laws on runtimes.

In comes what was observed of one word (a trace, or a rerun that observes again); out go witnesses and findings.
Begin with ``subject``; the other files hold the laws, a file per area.
"""
