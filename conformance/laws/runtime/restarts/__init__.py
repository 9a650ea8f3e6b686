"""Laws on a runtime that is killed at a point of a word, and started again on what it kept.

Begin with ``kills``: where a word is killed, and what a request after the restart shows. The other files hold the laws.
"""
