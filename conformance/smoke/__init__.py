"""A walk through the life of an implementation, for who writes its adapter (``turncheck smoke``)."""
