"""The process of a target: found, started under a supervisor, ended with all its descendants.

In comes a command; out comes a process whose lines can be read and written. Begin with ``process``.
"""
