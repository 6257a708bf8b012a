"""The one exception that a user is meant to read."""


class UGCLError(ValueError):
    """A mistake in what was asked for, told in one sentence that says what to do about it."""
