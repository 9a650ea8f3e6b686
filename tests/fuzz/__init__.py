"""Coverage-guided fuzzing: what reads input from elsewhere, held to what it promises, on whatever bytes.

``targets`` is the single place to add a target: a function that takes bytes and raises where a promise is broken.
``make fuzz`` gives each to atheris in a process of its own (``__main__``, ``one``); ``corpus/`` has the inputs that are
worth keeping, and ``test_corpus.py`` runs them without atheris.
"""
