"""Errors of files: one sentence each, to be printed without a traceback."""


class DataError(ValueError):
    """A file, folder or archive that cannot be used, and why.

    Example:
        >>> raise DataError("'faces.tar.gz' is not complete.")
        Traceback (most recent call last):
        ...
        simloss.data.errors.DataError: 'faces.tar.gz' is not complete.
    """


class MissingDataError(DataError, FileNotFoundError):
    """The given path does not exist; the message says where to get the data."""
