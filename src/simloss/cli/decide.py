"""`simloss decide`: the right answer from whatever gives probabilities."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .parameters import Flag, Several, as_list

if TYPE_CHECKING:
    from ..data.probability_file import ProbabilityFile
    from ..report.decided.answers import Answered
    from ..report.decided.judged import Judged
    from ..report.decided.mistakes import Mistakes


def decide(
    probabilities: Path,
    /,
    *,
    truth: str | None = None,
    cost: str | None = None,
    class_order: Annotated[list[str] | None, Several] = None,
    similarity: Path | None = None,
    tree: Path | None = None,
    superclass: str | None = None,
    by_value: Annotated[bool, Flag] = False,
    temperature: float | None = None,
    abstain: float | None = None,
    out: Path | None = None,
    page: Path | None = None,
) -> None:
    """Answer with the class of lowest expected cost, from the probabilities of any model.

    With the truth it says what each way to answer costs, fits a temperature on examples it is not
    judged by, and writes a page. Nothing is trained.

    Parameters
    ----------
    probabilities
        A .csv, .tsv (also .gz) or .parquet table with one column per class, in any order, or an
        .npz file with an array "probabilities" and, for the names, "classes".
    truth
        The column of true classes.
    cost
        What a mistake costs: zero-one, absolute or squared (the distance in class order), tree, or
        a CSV file with the cost of each answer (column) for each truth (row). What the class names
        suggest if not given.
    class_order
        All classes in order: low,medium,high. Other columns are no classes then.
    similarity
        A similarity saved by simloss similarity: a mistake costs 1 less the similarity.
    tree
        A CSV file of the tree of the classes: one class per line, its levels from the root down.
    superclass
        The column that names a node of the tree where the class is not known.
    by_value
        Let absolute and squared costs go by the numbers or dates that the classes are.
    temperature
        Temperature to apply: the one that decide --truth printed; 1 if not given.
    abstain
        Give no answer where it is expected to cost more than this.
    out
        Where the answers go, .csv or .parquet.
    page
        With the truth: where the page goes; beside the probabilities if not given.
    """
    from .. import _checks
    from ..data.probability_file import ProbabilityFile
    from ..report.decided.judged import judged
    from ..report.decided.mistakes import Mistakes, Told
    from ..report.decided.passes import CALIBRATED

    _check_options(truth, superclass, temperature, page)
    if out is not None:
        _checks.in_existing_folder("--out", out, probabilities)
        if out.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"`--out` must end in .csv or .parquet, but got '{out}'.")
    if page is not None:
        _checks.in_existing_folder("--page", page, probabilities)
        if page.suffix.lower() != ".html":
            raise ValueError(f"`--page` must end in .html, but got '{page}'.")
    if abstain is not None:
        _checks.threshold("--abstain", abstain)
    told = Told.of(cost, similarity, tree)
    beside = [name for name in (truth, superclass) if name is not None]
    file = ProbabilityFile.open(probabilities, classes=told.names, order=class_order, others=beside)
    mistakes = Mistakes.of(told, file.order, by_value=by_value)
    if superclass is not None and mistakes.tree is None:
        raise ValueError("`--superclass` must go with a tree of the classes: give it with --tree.")
    used = _checks.positive("--temperature", 1.0 if temperature is None else temperature)
    if truth is not None:
        found = judged(file, mistakes, truth=truth, superclass=superclass)
        options: dict[str, object] = {
            "--cost": mistakes.kind if mistakes.reason else cost,
            "--class-order": as_list(class_order) if class_order else None,
            "--similarity": similarity,
            "--tree": tree,
            "--by-value": by_value or None,
            "--abstain": abstain,
        }
        if found.stays:
            options = _by_argmax(options, told.names if tree is None else None)
        used = found.temperature if found.chosen.probabilities == CALIBRATED else 1.0
        _say(found, file.path, page, _again(options, used), abstain)
        if found.stays:
            mistakes, abstain = mistakes.zero_one, None
    if truth is None or out is not None:
        _answer(file, mistakes, used, abstain, out, says_classes=truth is None)


def _check_options(
    truth: str | None, superclass: str | None, temperature: float | None, page: Path | None
) -> None:
    for option, value in (("--superclass", superclass), ("--page", page)):
        if value is not None and truth is None:
            raise ValueError(f"`{option}` must go with `--truth`, which was not given.")
    if temperature is not None and truth is not None:
        raise ValueError("`--temperature` must not be given with `--truth`, which finds it.")
    if superclass is not None and superclass == truth:
        raise ValueError("`--superclass` must be another column than `--truth`.")


def _say_classes(mistakes: "Mistakes") -> None:
    how = "in this order" if mistakes.order.is_ordered else "in no order"
    print(f"{len(mistakes.order.names):,} classes, {how}: {mistakes.order}")
    if mistakes.reason:
        print(f"Cost: {mistakes.kind}, because {mistakes.reason}; --cost chooses another")


def _say(
    found: "Judged", path: Path, page: Path | None, command: str, abstain: float | None
) -> None:
    """Say and write what each rule costs."""
    from .._disk import whole_file
    from ..report.decided import table
    from ..report.decided.page import page as page_of
    from ..report.decided.verdict import verdict

    told = verdict(found)
    target = path.with_name(f"{path.name.split('.')[0]}-decide.html") if page is None else page
    content = page_of(found, told, path, command)
    with whole_file(target) as written:
        written.write(content.encode())
    _say_classes(found.mistakes)
    print(f"\n{table.as_text(found)}\n\n{told.sentence}")
    for text in (*told.advice, *told.notes):
        print(text)
    if found.stays and abstain is not None:
        rule = found.own.rule
        print(f"--abstain {abstain:g} is left out, because it is about the cost of {rule}.")
    print(f"\nAnswer new rows: {command}\nPage: {target}", flush=True)


def _by_argmax(options: dict[str, object], names: "tuple[str, ...] | None") -> dict[str, object]:
    """The options that answer by the most probable class; `names` tells which columns are one."""
    order = options["--class-order"] or (as_list(names) if names else None)
    return {"--cost": "zero-one", "--class-order": order, "--tree": options["--tree"]}


def _again(options: dict[str, object], temperature: float) -> str:
    """The same command for new probabilities."""
    words = ["simloss", "decide", "new.csv"]
    for option, value in options.items():
        if value is not None:
            words += [option] if value is True else [option, _spelled(value)]
    words += ["--temperature", f"{temperature:.4g}"] if temperature != 1 else []
    return shlex.join([*words, "--out", "answers.csv"])


def _spelled(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _answer(
    file: "ProbabilityFile",
    mistakes: "Mistakes",
    temperature: float,
    abstain: float | None,
    out: Path | None,
    *,
    says_classes: bool,
) -> None:
    from ..report.decided.answers import answer
    from ..report.decided.verdict import number, percent

    found = answer(file, mistakes, temperature=temperature, abstain=abstain, out=out)
    if says_classes:
        _say_classes(mistakes)
    if out is None:
        _show(found)
    else:
        print(f"Answers: {out} ({found.rows:,} rows)")
    given = found.rows - found.unsure
    if given:
        cost = f"{number(found.cost / given)}{mistakes.unit}"
        print(f"By {mistakes.rule}, {mistakes.noun} is expected to be {cost}")
    if abstain is not None:
        share = percent(found.unsure / found.rows)
        print(f"No answer for {found.unsure:,} of {found.rows:,} rows ({share})")


def _show(found: "Answered") -> None:
    """The first few rows, in columns."""
    print(found.first.to_string(index=False, na_rep="-"))
    if found.rows > len(found.first):
        more = found.rows - len(found.first)
        print(f"... and {more:,} more; --out answers.csv writes them all")
