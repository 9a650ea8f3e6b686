"""What speaks with an implementation, or reads what one left behind: recorded logs, processes, named targets."""
