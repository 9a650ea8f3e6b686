"""N-complete test suites against a target: every fault within the guarantee is found.

In come a target and its reference, whose machine is the specification; out go a verdict per law and the guarantee.
Begin with ``reference``, then ``run``; ``model.automata.suites`` makes the words.
"""
