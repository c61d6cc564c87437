"""The module: a CrossEntropyLoss that holds a similarity and can change it."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

import simloss
from simloss import SimLoss
from simloss.similarity import embedding, identity, matrix, order

C = 5
INPUT = torch.randn(6, C, generator=torch.Generator().manual_seed(0))
TARGET = torch.tensor([0, 1, 2, 3, 4, 1])


def through_a_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_is_the_function(loss_module, loss_function):
    options = {
        "weight": torch.rand(C),
        "ignore_index": 2,
        "reduction": "sum",
        "label_smoothing": 0.1,
        "cross_entropy_share": 0.2,
    }
    for S in (order(C, 0.7), torch.eye(C), embedding(torch.randn(C, 3))):
        expected = loss_function(INPUT, TARGET, S, **options)
        assert loss_module(S, **options)(INPUT, TARGET).item() == pytest.approx(expected.item())


def test_is_a_cross_entropy_loss(loss_module):
    loss = loss_module(identity(C))
    assert isinstance(loss, nn.CrossEntropyLoss)
    expected = nn.CrossEntropyLoss()(INPUT, TARGET)
    assert loss(INPUT, TARGET).item() == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_change_of_dtype_leaves_the_similarity_alone(loss_module, dtype):
    model = nn.Sequential(nn.Linear(2, C), loss_module(order(C, 0.999), weight=torch.ones(C)))
    model.to(dtype)
    assert model[1].weight.dtype == dtype  # as torch does
    assert model[1].similarity == order(C, 0.999)
    dense = loss_module(torch.full((C, C), 0.999).fill_diagonal_(1)).to(dtype)
    assert dense.similarity.to_dense()[0, 1].item() == pytest.approx(0.999, abs=1e-7)


def test_a_learned_similarity_keeps_its_dtype_and_its_gradient():
    S = nn.Parameter(torch.full((C, C), 0.999).fill_diagonal_(1))
    loss = SimLoss(S)
    loss(INPUT, TARGET).backward()
    loss.half()
    assert S.dtype == S.grad.dtype == torch.float32
    assert "similarity_matrix" in loss.state_dict()


def test_follows_the_device(loss_module):
    loss = loss_module(order(C, 0.5)).to("meta")
    assert loss.similarity.tensors["r"].device.type == "meta"
    assert loss(INPUT.to("meta"), TARGET.to("meta")).device.type == "meta"
    assert "order(5 classes)" in repr(loss)


def test_a_device_without_float64():
    """As on Apple's: float32 is then the widest there is."""

    def move(tensor):
        if tensor.dtype == torch.float64:
            raise TypeError("Cannot convert to float64")
        return tensor

    loss = SimLoss(order(C, 0.75))
    loss._apply(move)
    assert loss.similarity.tensors["r"].dtype == torch.float32
    assert loss(INPUT, TARGET).isfinite()


@pytest.mark.parametrize("S", [order(C, 0.7), matrix(order(C, 0.7).to_dense())], ids=repr)
def test_copy_and_pickle(loss_module, S):
    loss = loss_module(S, reduction="none")
    for twin in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert torch.equal(twin(INPUT, TARGET), loss(INPUT, TARGET))
        twin.set_similarity(identity(C))
        assert loss.similarity == S


def test_nobody_else_holds_its_tensors(loss_module):
    S = matrix(torch.eye(C))
    loss = loss_module(S)
    loss.set_similarity(torch.ones(C, C))
    assert matrix(torch.eye(C)) == S
    given = torch.eye(C)
    loss = loss_module(given)
    given.fill_(1)
    assert loss.similarity == matrix(torch.eye(C))


class TestState:
    def test_is_that_of_cross_entropy(self, loss_module):
        plain = nn.Sequential(nn.Linear(2, C), nn.CrossEntropyLoss(weight=torch.ones(C)))
        ours = nn.Sequential(nn.Linear(2, C), loss_module(torch.ones(C, C), weight=torch.ones(C)))
        assert list(ours.state_dict()) == list(plain.state_dict())
        ours.load_state_dict(through_a_file(plain.state_dict()), strict=True)
        plain.load_state_dict(through_a_file(ours.state_dict()), strict=True)
        assert ours[1].similarity == matrix(torch.ones(C, C))

    def test_is_small_however_many_classes(self, loss_module):
        assert loss_module(torch.eye(1000)).state_dict() == {}
        loss = loss_module(order(10**6, 0.9)).set_similarity(order(10**6, 0.8))
        assert sum(value.numel() for value in loss.state_dict().values()) == 1

    @pytest.mark.parametrize(
        ("first", "later"),
        [
            (order(C, 0.9), order(C, 0.3)),
            (order(C, 0.9), identity(C)),
            (torch.eye(C), torch.ones(C, C)),
            (order(C, 0.9), torch.ones(C, C)),
            (torch.eye(C), order(C, 0.3)),
            (embedding(torch.eye(C)), embedding(torch.ones(C, 2), lower_bound=0.5)),
        ],
        ids=str,
    )
    def test_a_running_schedule_survives(self, loss_module, first, later):
        running = nn.ModuleDict({"loss": loss_module(first)})
        running["loss"].set_similarity(later)
        fresh = nn.ModuleDict({"loss": loss_module(first)})
        fresh.load_state_dict(through_a_file(running.state_dict()), strict=True)
        assert fresh["loss"].similarity == running["loss"].similarity
        again = nn.ModuleDict({"loss": loss_module(first)})
        again.load_state_dict(fresh.state_dict(), strict=True)
        assert again["loss"].similarity == running["loss"].similarity

    def test_a_schedule_on_computed_rows_survives(self):
        vectors = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0))
        running = SimLoss(embedding(vectors, 0.9)).set_similarity(embedding(vectors, 0.2))
        assert list(running.state_dict()) == ["similarity.embedding.lower_bound"]
        fresh = SimLoss(embedding(vectors, 0.9))
        fresh.load_state_dict(running.state_dict())
        assert fresh.similarity.tensors["lower_bound"] == 0.2
        with pytest.raises(RuntimeError, match="call set_similarity"):
            SimLoss(order(5000, 0.5)).load_state_dict(running.state_dict())


class TestSetSimilarity:
    def test_r_down_to_exactly_zero(self, loss_module):
        loss = loss_module(order(C, 0.9))
        buffer = loss.similarity_r
        for step in range(10):
            loss.set_similarity(order(C, 0.9 * (1 - step / 9)))
            assert loss.similarity_r is buffer  # written into: nothing to compile again
        plain = nn.CrossEntropyLoss()(INPUT, TARGET)
        assert loss(INPUT, TARGET).item() == pytest.approx(plain.item(), rel=1e-6)

    def test_another_structure(self, loss_module, loss_function):
        loss = loss_module(order(C, 0.9))
        S = torch.rand(C, C).fill_diagonal_(1)
        loss.set_similarity(S)
        assert loss(INPUT, TARGET).item() == loss_function(INPUT, TARGET, S).item()
        loss.set_similarity(order(C, 0.5).normalized())
        assert loss.similarity.kind == "probability"

    def test_another_number_of_classes(self, loss_module):
        with pytest.raises(ValueError, match="must keep its 5 classes, but the new one has 6"):
            loss_module(order(C, 0.5)).set_similarity(order(6, 0.5))

    def test_stays_in_the_wider_dtype(self):
        loss = SimLoss(torch.eye(C))
        S = torch.full((C, C), 1 - 1e-12, dtype=torch.float64).fill_diagonal_(1)
        assert loss.set_similarity(S).similarity == matrix(S)


def test_repr_says_what_is_not_the_default(loss_module):
    loss = loss_module(order(3, 0.5), ignore_index=0, cross_entropy_share=0.25)
    assert repr(loss) == (
        f"{loss_module.__name__}(order(3 classes, r=0.5), ignore_index=0, cross_entropy_share=0.25)"
    )


def test_bad_arguments_fail_when_it_is_built(loss_module):
    S = order(C, 0.5)
    with pytest.raises(ValueError, match="`reduction` must be one of 'none', 'mean', 'sum'"):
        loss_module(S, reduction="average")
    with pytest.raises(ValueError, match="`weight` must have one number for each of the 5 classes"):
        loss_module(S, weight=torch.ones(4))
    with pytest.raises(ValueError, match=r"`label_smoothing` must be in \[0, 1\], but got 1.5"):
        loss_module(S, label_smoothing=1.5)
    with pytest.raises(ValueError, match=r"`cross_entropy_share` must be in \[0, 1\], but got -1"):
        loss_module(S, cross_entropy_share=-1)
    with pytest.raises(ValueError, match="must be a leaf"):
        loss_module(torch.rand(C, C, requires_grad=True).sigmoid().fill_diagonal_(1))
    with pytest.raises(ValueError, match="must be square"):
        loss_module(torch.ones(2, 3))


class TestWhatAModuleKeeps:
    def test_a_similarity_too_small_for_float32_is_not_rounded_to_none(self):
        s = simloss.similarity.geo([(52.52, 13.40), (35.68, 139.69)], scale_km=50)
        z = torch.tensor([[0.0, 300.0]], requires_grad=True)
        y = torch.tensor([0])
        wanted = simloss.sim_loss(z, y, s)
        assert 178 < wanted.item() < 179
        assert simloss.SimLoss(s)(z, y).item() == pytest.approx(wanted.item())

    @pytest.mark.parametrize(
        "make",
        [
            lambda: simloss.similarity.circular(5, 0.999),
            lambda: simloss.similarity.restricted(simloss.similarity.order(5, 0.999), range(5)),
        ],
    )
    def test_a_model_made_in_half_precision_keeps_the_digits(self, make):
        """As `from_pretrained(dtype=torch.bfloat16)` makes them, under another default dtype."""
        torch.set_default_dtype(torch.bfloat16)
        try:
            loss = simloss.SimLoss(make())
        finally:
            torch.set_default_dtype(torch.float32)
        assert loss.similarity.rows([0])[0, 1].item() == pytest.approx(0.999)

    @pytest.mark.parametrize("kind", ["order", "matrix"])
    def test_the_kind_of_a_changed_similarity_survives(self, kind):
        s = simloss.similarity.order(5, 0.5)
        s = s if kind == "order" else simloss.similarity.matrix(s.to_dense())
        saved = simloss.SimLoss(s).set_similarity(s.normalized())
        fresh = simloss.SimLoss(s)
        fresh.load_state_dict(saved.state_dict())
        z, y = torch.randn(3, 5), torch.tensor([0, 3, 4])
        assert fresh(z, y).item() == pytest.approx(saved(z, y).item())
        assert fresh.similarity.kind == "probability"

    def test_what_cannot_be_restored_is_told_apart_by_its_kind(self):
        s = simloss.similarity.sparse(simloss.similarity.order(5, 0.5), top_k=2)
        saved = simloss.SimLoss(s).set_similarity(s.normalized()).state_dict()
        rule = "'sparse' and 'similarity', but it has 'sparse' and 'probability'"
        with pytest.raises(RuntimeError, match=f"{rule}; call set_similarity"):
            simloss.SimLoss(s).load_state_dict(saved)
        ready = simloss.SimLoss(s).set_similarity(s.normalized())
        ready.load_state_dict(saved)

    def test_going_back_to_before_the_first_change(self):
        loss = simloss.SimLoss(simloss.similarity.order(5, 0.9))
        before = loss.state_dict()
        loss.set_similarity(simloss.similarity.order(5, 0.1)).load_state_dict(before)
        assert loss.similarity.rows(0)[1].item() == pytest.approx(0.9)
        assert not loss.state_dict()

    def test_a_checkpoint_of_cross_entropy_leaves_the_similarity(self):
        loss = simloss.SimLoss(simloss.similarity.order(5, 0.9))
        loss.set_similarity(simloss.similarity.order(5, 0.1))
        loss.load_state_dict(torch.nn.CrossEntropyLoss().state_dict())
        assert loss.similarity.rows(0)[1].item() == pytest.approx(0.1)

    def test_a_parameter_set_later_is_learned_and_saved_once(self):
        loss = simloss.SimLoss(torch.eye(3))
        learned = torch.nn.Parameter(torch.eye(3) * 0.5 + 0.5)
        loss.set_similarity(learned)
        assert [id(each) for each in loss.parameters()] == [id(learned)]
        loss(torch.randn(4, 3), torch.tensor([0, 1, 2, 0])).backward()
        assert learned.grad is not None
        assert len(loss.state_dict()) == 1

    def test_made_in_inference_mode_and_trained_later(self):
        with torch.inference_mode():
            loss = simloss.SimLoss(simloss.similarity.order(4, 0.5))
        z = torch.randn(3, 4, requires_grad=True)
        loss(z, torch.tensor([0, 1, 2])).backward()
        assert z.grad is not None
