"""The exception of the library for invalid input."""


class UGCLError(ValueError):
    """Exception for invalid input; the message says what is wrong and what to do.

    Line breaks, of a library below for example, become spaces, and other characters that cannot be
    printed are escaped.
    """

    def __init__(self, message: str = "") -> None:
        line = " ".join(each.strip() for each in message.splitlines())
        super().__init__("".join(map(_printable, line)))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]
