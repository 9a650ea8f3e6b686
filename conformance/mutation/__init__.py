"""Mutation: edited rows as wrong implementations, and which method and which law finds them."""
