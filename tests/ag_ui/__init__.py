"""AG-UI streams, valid and broken, and what the protocol's own validators say of them."""
