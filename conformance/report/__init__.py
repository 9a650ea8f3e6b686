"""Reports of the one result object, for people and for CI systems, and pictures of what was found.

In come results, counterexamples, lessons and learned machines; out go text, pictures and files of many formats.
Begin with ``registry``, which lists the formats, or with ``text``, which writes a counterexample.
"""
