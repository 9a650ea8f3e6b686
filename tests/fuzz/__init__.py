"""Coverage-guided fuzzing: code that reads input from elsewhere keeps its promises, whatever the bytes.

``targets`` is the single place to add a target: a function that takes bytes and raises if a promise is broken.
``make fuzz`` gives each to atheris in its own process (``__main__``, ``one``); ``corpus/`` has the inputs worth
keeping, and ``test_corpus.py`` runs them without atheris.
"""
