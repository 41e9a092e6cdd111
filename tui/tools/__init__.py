"""Tools: what is registered, what a step admits, and how a call runs (loop-and-adapters §6)."""
