"""The fast loop of AG-UI, from its parts: in come the declared parts, out go events as structures, and the loop's text.

Begin with ``shapes``, which says what the loop knows; ``branches`` writes what it does.
"""
