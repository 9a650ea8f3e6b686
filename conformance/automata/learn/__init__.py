"""Learn a runtime's Mealy machine from output queries only, and compare it with another.

In comes a runtime seen through a finite alphabet; out go its machine and the shortest words on which two differ.
Begin with ``learning``.
"""
