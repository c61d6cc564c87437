"""Checks of user input that several modules share, and the wording of their errors; by subject.

One template: the name, the rule, what came, and the remedy if it is known.
Checks of *values* run only if they are free: on the CPU, outside
``torch.compile`` and ``torch.func``. They never make a device wait.
"""

from .losses import (
    REDUCTIONS,
    class_weight,
    example_weight,
    linear_shapes,
    linear_target,
    logits,
    no_ignored_class,
    probabilities,
    same_class_count,
    target_is_index,
    target_range,
)
from .matrices import (
    ROUNDING,
    cost_values,
    is_data_frame,
    labels_of_both_sides,
    not_a_similarity,
    of_kind_similarity,
    row_labels,
    similarity_values,
)
from .names import (
    choice,
    class_names,
    counted,
    distinct,
    in_class_order,
    is_missing,
    nearest_spelling,
    not_empty,
    not_missing,
    permutation,
)
from .numbers import (
    at_least_zero,
    class_count,
    fraction,
    index,
    positive,
    rank,
    real,
    run_count,
    seed,
    share,
    threshold,
)
from .surroundings import in_existing_folder, installed
from .tensors import (
    class_counts_agree,
    class_indices,
    finite,
    float_tensor,
    index_tensor,
    is_tensor,
    not_negative,
    one_number_a_class,
    same_shape,
    square,
    values_can_be_read,
    vectors,
    writable,
)
