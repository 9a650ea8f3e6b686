"""Pictures: machines as state diagrams, runs as sequence diagrams; the same bytes on every machine.

In come a machine, a story or a session's cycles; out go SVG, DOT, Mermaid and plain text.
Begin with ``state_diagram`` for machines, with ``scene`` for runs; ``svg``, ``mermaid`` and ``text`` draw scenes.
"""
