"""`simloss report`: what a run says, as text, tables and a page."""

import sys
from pathlib import Path
from typing import Annotated

from .._imports import UsersName
from .parameters import Flag, Name


def report(
    folder: Path,
    /,
    *,
    out: Path | None = None,
    data: Annotated[UsersName | None, Name] = None,
    image_column: str | None = None,
    net: Annotated[UsersName | None, Name] = None,
    encoder: Annotated[UsersName | None, Name] = None,
    worthwhile: float = 1.0,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Print the verdict of a run, and write report.html, table.md, table.tex and table.csv.

    The page is one file that works offline. Only the run's records are read: what is there of an
    unfinished run is reported as it is.

    Parameters
    ----------
    folder
        The run folder, as compare and reproduce leave it; or a saved model, a .safetensors file,
        with --data: the figures for that net alone.
    out
        Where to write; into the run folder if not given, for a model into MODEL-report beside it.
    data
        For a model: examples whose classes are known, as simloss train takes them. If it is what
        the model was trained on, its own test part is judged.
    image_column
        For a model: the column of a table that holds the paths of images.
    net
        For a model: the module:factory of your own net, if it has one.
    encoder
        For a model: the module:callable of your own encoder, if it has one.
    worthwhile
        The smallest gain worth having, in percent of what cross entropy has.
    json
        Print the verdict as JSON.
    """
    if folder.suffix == ".safetensors" and not folder.is_dir():
        _of_model(folder, out, data, image_column, net, encoder)
        return
    of_models = {"data": data, "image-column": image_column, "net": net, "encoder": encoder}
    for option, value in of_models.items():
        if value is not None:
            raise ValueError(f"`--{option}` must go with a saved model, but got '{folder}'.")
    from .. import _checks
    from ..report.judge.run import Run
    from ..report.write import write
    from .running import show

    share = _checks.at_least_zero("worthwhile", worthwhile) / 100
    run = Run.read(folder, worthwhile=share)
    show(run, write(run, folder if out is None else out), as_json=json)


def _of_model(
    model: Path,
    out: Path | None,
    data: UsersName | None,
    image_column: str | None,
    net: UsersName | None,
    encoder: UsersName | None,
) -> None:
    from .._disk import own_folder
    from ..experiment.saved.model import SavedModel
    from ..experiment.saved.remeasure import labelled, results_folder
    from ..report.judge.run import Run
    from ..report.write import write

    if data is None:
        raise ValueError(
            f"`--data` must name examples whose classes are known to judge '{model}' by, "
            f"but it was not given."
        )
    saved = SavedModel.load(model, net=net, encoder=encoder)
    examples = labelled(saved, data, image_column)
    for note in examples.notes:
        print(f"Note: {note}.", file=sys.stderr)
    with results_folder(saved, model.stem, examples) as folder:
        run = Run.read(folder)
        ours = model.with_name(f"{model.stem}-report")  # nobody has named it
        written = write(run, own_folder(ours) if out is None else out)
        print(f"{run.verdict}\n\nReport: {written}", flush=True)
