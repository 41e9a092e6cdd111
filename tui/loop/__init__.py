"""The agent loop: turns, steps, requests and what they leave in the log."""
