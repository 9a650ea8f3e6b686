"""The commands, one module each.

In come the options that the module declares; out go text or JSON, and an exit code.
Begin with ``check``, a short one; ``cli.group.COMMANDS`` is the single place to add one.
"""
