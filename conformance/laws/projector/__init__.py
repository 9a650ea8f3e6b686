"""Laws on projectors.

In comes what was observed of one log (a trace, or an experiment that observes again); out go witnesses and findings.
Begin with ``subject``; the other files hold the laws, a file per area.
"""
