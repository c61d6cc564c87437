"""What goes wrong with files: one sentence each, fit to be printed without a traceback."""


class DataError(ValueError):
    """A file, folder or archive that cannot be used, and why.

    Example:
        >>> raise DataError("'faces.tar.gz' is not complete.")
        Traceback (most recent call last):
        ...
        simloss.data.errors.DataError: 'faces.tar.gz' is not complete.
    """


class MissingDataError(DataError, FileNotFoundError):
    """Nothing stands at the given path; the sentence says where the data is to be had."""
