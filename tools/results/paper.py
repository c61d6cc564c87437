"""The paper's test results, to stand beside ours: means of ten runs, answered by argmax."""

from simloss.experiment.plan.config import Config
from simloss.report.judge.results import Row

# source -> (net, similarity, {parameter: test values}); the first parameter is cross entropy.
_AGES = ("accuracy", "mae", "mse")
OBJECTS = ("accuracy", "superclass_accuracy", "failed_superclass_accuracy")

Numbers = dict[float, tuple[float, float, float]]

_UTKFACE: Numbers = {
    0.0: (0.1447, 7.39, 131.65),
    0.1: (0.1448, 7.29, 127.18),
    0.2: (0.1457, 7.27, 127.13),
    0.3: (0.1517, 7.19, 125.70),
    0.4: (0.1546, 7.18, 125.74),
    0.5: (0.1509, 7.18, 123.94),
    0.6: (0.1434, 7.09, 120.34),
    0.7: (0.1307, 7.08, 121.19),
    0.8: (0.1257, 7.01, 117.99),
    0.9: (0.0916, 7.18, 117.62),
}
_AFAD: Numbers = {
    0.0: (0.1122, 4.10, 33.64),
    0.1: (0.1130, 4.10, 33.73),
    0.2: (0.1137, 4.15, 34.60),
    0.3: (0.1138, 4.16, 34.53),
    0.4: (0.1145, 4.16, 34.56),
    0.5: (0.1149, 4.13, 34.21),
    0.6: (0.1131, 4.05, 32.84),
    0.7: (0.1111, 4.02, 32.36),
    0.8: (0.0855, 4.64, 39.78),
    0.9: (0.0647, 5.15, 45.82),
}
CIFAR100: Numbers = {
    0.99: (0.3951, 0.4922, 0.1605),
    0.9: (0.4015, 0.4993, 0.1636),
    0.8: (0.3949, 0.4932, 0.1622),
    0.7: (0.3986, 0.4963, 0.1625),
    0.6: (0.4000, 0.5000, 0.1667),
    0.5: (0.3926, 0.4940, 0.1670),
    0.4: (0.3218, 0.4458, 0.1830),
    0.3: (0.2443, 0.3890, 0.1913),
    0.2: (0.1854, 0.3368, 0.1858),
    0.1: (0.1425, 0.2870, 0.1685),
    0.0: (0.0253, 0.0806, 0.0571),
}
_TABLES = {
    "utkface": ("age-cnn", "order", _AGES, _UTKFACE),
    "afad": ("age-cnn", "order", _AGES, _AFAD),
    "cifar100": ("lenet", "words", OBJECTS, CIFAR100),
}


def is_in_the_paper(config: Config) -> bool:
    """Whether the paper has a table of this data and net."""
    return config.data.source in _TABLES and _TABLES[config.data.source][0] == config.model


def papers_table(config: Config) -> tuple[tuple[str, str, str], Numbers]:
    """The metrics of the paper's table, and its values by parameter, cross entropy's first."""
    if not is_in_the_paper(config):
        raise ValueError(f"the paper has no table of {config.data.source} with {config.model}.")
    _, _, names, numbers = _TABLES[config.data.source]
    return names, numbers


def value_in_the_paper(config: Config, row: Row) -> float | None:
    """The parameter under which the paper's table has a treatment; None if it does not."""
    _, similarity, _, numbers = _TABLES[config.data.source]
    if row.is_baseline:
        return next(iter(numbers))
    treatment = row.treatment
    known = (treatment["loss"], treatment.get("similarity")) == ("simloss", similarity)
    return row.value if known and not treatment.get("options") and row.value in numbers else None


def in_the_paper(config: Config, row: Row) -> dict[str, float]:
    """What the paper reports for a treatment, by metric; nothing where it reports none."""
    if not is_in_the_paper(config):
        return {}
    (names, numbers), value = papers_table(config), value_in_the_paper(config, row)
    return {} if value is None else dict(zip(names, numbers[value], strict=True))
