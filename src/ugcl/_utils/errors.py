"""The exception of the library for invalid input."""


class UGCLError(ValueError):
    """Exception for invalid input; the message says what is wrong and what to do.

    Line breaks in the message, of a library below for example, become spaces.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(each.strip() for each in message.splitlines()))
