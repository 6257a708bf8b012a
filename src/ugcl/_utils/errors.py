"""The exception of the library for invalid input."""


class UGCLError(ValueError):
    """Exception for invalid input; the message says what is wrong and what to do.

    Characters that cannot be printed, such as line breaks in an id, are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(map(_printable, message)))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]
