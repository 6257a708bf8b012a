"""The exception of the library for invalid input."""


class UGCLError(ValueError):
    """Exception for invalid input; the message says what is wrong and what to do."""
