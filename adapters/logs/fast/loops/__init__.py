"""The fast loops, one a format, generated: run ``make generate``, do not edit."""
