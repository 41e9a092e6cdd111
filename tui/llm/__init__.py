"""Talking to models: what a request holds, what a route is sent of it, and what comes back."""
