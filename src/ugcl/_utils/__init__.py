"""Helpers that any package may use."""
