"""The committed generator of session files: what coding agents, clients and tracers write, with outputs of kilobytes.

In goes the name of a row; out goes a log. Begin with ``registry``; each other module has the lines of some formats.
"""
