"""Each clause broken once in a copy of the tree: which test notices it?"""
