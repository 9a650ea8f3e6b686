"""The reference of ``engine``: the machine in a real server, and as a runtime that is driven."""
