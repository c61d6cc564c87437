"""What a mistake on the command line gets."""

import pytest

from simloss.cli import main


def fails(capsys, *arguments):
    """The one sentence a mistake gets."""
    with pytest.raises(SystemExit) as exit:
        main(list(arguments))
    assert exit.value.code == 2
    output = capsys.readouterr()
    assert output.err.startswith("simloss: ")
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err
    return output.err
