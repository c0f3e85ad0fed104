"""What goes wrong."""


class TytoError(Exception):
    """A mistake that Tyto tells: its message, as the library or the command worded it.

    `status` is the library's name of it ("bad PTX", "kernel failed", ...), or "command" where the
    command `tyto` ended with an error.
    """

    def __init__(self, message: str, status: str = "mistake") -> None:
        super().__init__(message)
        self.status = status
