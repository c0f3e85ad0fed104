"""The error that this package raises."""


class TytoError(Exception):
    """An error that Tyto reports. Its message is that of the library or the command.

    `status` is the library's name for it ("bad PTX", "kernel failed", ...), or "command" if the
    command `tyto` ended with an error.
    """

    def __init__(self, message: str, status: str = "mistake") -> None:
        super().__init__(message)
        self.status = status
