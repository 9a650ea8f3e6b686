"""N-complete test suites: W, Wp and HSI from a minimal Mealy machine, applied to a target.

In comes the reference's machine; out go words, and the guarantee that passing them gives.
Begin with ``reference``, then ``run``; the construction itself is ``model.automata.suites``.
"""
