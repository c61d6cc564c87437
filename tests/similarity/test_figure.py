import pytest
import torch

from simloss.similarity import cost, embedding, figure, order, sketch

NAMES = ["rose", "truck", "tulip", "car"]
VECTORS = [[1, 0.1], [0, 1], [1, 0.2], [0.1, 1]]


def test_heat_map_shows_every_entry_with_names():
    S = embedding(VECTORS, names=NAMES)
    picture = S.figure()
    heat = picture.data[0]
    assert list(heat.x) == NAMES
    assert list(heat.y) == NAMES
    assert torch.allclose(torch.tensor(heat.z), S.to_dense(), atol=1e-6)
    assert (heat.zmin, heat.zmax) == (0, 1)
    assert picture.layout.yaxis.autorange == "reversed"


def test_clustered_puts_like_next_to_like():
    S = embedding(VECTORS, names=NAMES)
    shown = list(figure(S, order="clustered").data[0].x)
    assert sorted(shown) == sorted(NAMES)
    assert abs(shown.index("rose") - shown.index("tulip")) == 1
    assert abs(shown.index("truck") - shown.index("car")) == 1
    assert list(order(2, 0.5).figure(order="clustered").data[0].x) == ["0", "1"]


def test_many_classes_are_summed_up_in_blocks():
    S = order(450, r=0.9)
    picture = S.figure()
    heat = picture.data[0]
    assert len(heat.z) == 100
    assert "means of 100 x 100 blocks" in picture.layout.title.text
    dense = S.to_dense(torch.float64)
    block = [i * 100 // 450 for i in range(450)]
    first, second = (
        [i for i in range(450) if block[i] == 7],
        [i for i in range(450) if block[i] == 9],
    )
    assert heat.z[7][9] == pytest.approx(dense[first][:, second].mean().item())
    assert heat.x[7] == f"{first[0]} to {first[-1]}"


def test_many_classes_clustered_are_a_sample():
    picture = order(450, r=0.9).figure(order="clustered")
    assert len(picture.data[0].z) == 300
    assert "a sample of 300 classes, clustered" in picture.layout.title.text


def test_sketch_has_a_shade_for_each_size():
    S = cost([[0, 0.1, 1, 2, 9], *([5] * i + [0] + [9] * (4 - i) for i in range(1, 5))], 1)
    assert S.sketch().splitlines()[0] == "0 ██▓▓▒▒░░░░"
    assert sketch([[1.0, 0.0], [0.0, 1.0]]) == "0 ██··\n1 ··██"


def test_sketch_of_many_classes_shows_blocks():
    lines = order(90, r=0.9).sketch().splitlines()
    assert len(lines) == 32
    assert lines[0].startswith("0 to 2 ")
    assert len(lines[0]) == len("87 to 89 ") + 64


def test_bad_input():
    with pytest.raises(ValueError, match="`order` must be one of 'given', 'clustered'"):
        order(3, 0.5).figure(order="sorted")
