"""Runtimes for the tests: conforming ones, and wrong ones with one fault each.

In come stimuli; out come steps, as an adapter gives them. Begin with ``right``, which conforms; ``wrong`` has one class
per fault, and ``lifecycle`` what can do more than answer. ``doubles`` is the place to add a module of wrong ones.
"""
