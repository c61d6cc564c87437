"""`simloss predict`: a saved net's answers for new examples."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._imports import UsersName
from .parameters import Decision, Flag, Name

if TYPE_CHECKING:
    from ..experiment.saved.answers import Table
    from ..experiment.saved.model import SavedModel

_SHOWN = 10


def predict(
    model: Path,
    source: UsersName,
    /,
    *,
    out: Path | None = None,
    all_: Annotated[bool, Parameter(name="--all"), Flag] = False,
    abstain: float | None = None,
    decision: Decision | None = None,
    image_column: str | None = None,
    net: Annotated[UsersName | None, Name] = None,
    encoder: Annotated[UsersName | None, Name] = None,
) -> None:
    """Answer for new examples with a net that simloss train has saved.

    Each gets an answer, its probability, what it is expected to cost (in the unit of the decision:
    1 for any mistake, or the distance), and the most probable classes. All of these go by the same
    probabilities, calibrated unless that made the answers on validation worse. A bin also has its
    value, the median of its training examples. Of a table, the columns that identify a row are
    carried through, and "outside" says which cells lie far outside the training data.

    Parameters
    ----------
    model
        The model, a .safetensors file.
    source
        A table with the columns the model was trained on, a folder of images, or a table of images.
    out
        Where the answers go, .csv or .parquet; the first few are printed if not given.
    all_
        The probability of every class, not of the three most probable only.
    abstain
        Give no answer where it is expected to cost more than this.
    decision
        How to answer; as the model was trained for if not given.
    image_column
        The column of a table that holds the paths of images: in the table's folder, or absolute.
    net
        The module:factory of your own net, if the model has one; a model file cannot have it
        imported by itself.
    encoder
        The module:callable of your own encoder, if the model has one; or where the folder of its
        hf:FOLDER is now.
    """
    from .. import _checks
    from ..experiment.saved.answers import answers, right_share
    from ..experiment.saved.model import SavedModel
    from ..experiment.saved.new_data import new_data
    from ..experiment.saved.remeasure import is_what_it_learned_from

    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"`--out` must end in .csv or .parquet, but got '{out}'.")
    if out is not None:
        _checks.in_existing_folder("--out", out, source)
    if abstain is not None:
        _checks.threshold("abstain", abstain)
    saved = SavedModel.load(model, net=net, encoder=encoder)
    _refuse_without_use(saved, model, source, image_column, net)
    examples = new_data(saved, source, image_column)
    table = answers(saved, examples, rule=decision, abstain=abstain, all_probabilities=all_)
    for note in examples.notes:
        print(f"Note: {note}.", file=sys.stderr)
    if unknown := (examples.truth or []).count(None):  # neither right nor wrong below
        some = f"{unknown:,} of {len(examples.names):,} examples"
        print(f"Note: {some} have no class the model knows.", file=sys.stderr)
    if strange := sum(each is not None for each in examples.outside or ()):
        some = f"{strange:,} of {len(examples.names):,} rows"
        print(f"Note: {some} lie outside the training data; see 'outside'.", file=sys.stderr)
    if out is None:
        _show(table)
    else:
        _write(table, out)
        print(f"Answers: {out} ({len(examples.names):,} examples)")
    if abstain is not None:
        print(f"No answer for {sum(table['abstained']):,} of {len(examples.names):,} examples")
    right, known = right_share(saved, examples, table)
    if known:
        print(f"Right: {right:,} of {known:,} whose class is known ({100 * right / known:.1f} %)")
    if known and is_what_it_learned_from(saved.config, source):
        print("The model was trained on examples of this data, so this says nothing of new ones.")


def _refuse_without_use(
    saved: "SavedModel", model: Path, source: str, image_column: str | None, net: str | None
) -> None:
    """One sentence on an option that would change nothing."""
    from ..data.table_file import is_table

    if net is not None and net != saved.config.model:
        has = saved.config.model
        raise ValueError(f"`--net` is for a net of your own, but '{model}' has the net {has!r}.")
    if image_column is None:
        return
    if not saved.is_of_images:
        raise ValueError(f"`--image-column` is for a model of images, which '{model}' is not.")
    if not is_table(Path(source)):
        raise ValueError(f"`--image-column` is for a table of images, but got '{source}'.")


def _show(table: "Table") -> None:
    """The first few rows, in columns."""
    import pandas

    frame = pandas.DataFrame(table)
    shown = frame.head(_SHOWN)
    gaps = {name: "-" for name in shown.columns if shown[name].isna().all()}  # else "None"
    print(shown.assign(**gaps).to_string(index=False, na_rep="-"))
    if len(frame) > _SHOWN:
        print(f"... and {len(frame) - _SHOWN:,} more; --out answers.csv writes them all")


def _write(table: "Table", out: Path) -> None:
    import pandas

    from .. import _checks
    from ..experiment.writing import write_whole

    if out.suffix.lower() == ".parquet":
        _checks.installed("pyarrow", "cli")
        write_whole(out, pandas.DataFrame(table).to_parquet(index=False))
        return
    safe = {_safe(heading): [_safe(cell) for cell in cells] for heading, cells in table.items()}
    write_whole(out, pandas.DataFrame(safe).to_csv(index=False).encode())


def _safe(cell: Any) -> Any:
    """No text that a spreadsheet takes for a formula; a number or a range of two as it is."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        for number in cell.split("–", maxsplit=1):
            float(number)
    except ValueError:
        return f"'{cell}"
    return cell
