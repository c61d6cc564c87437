import torch
import torch.nn.functional as F

from simloss.experiment.train.augment import crop_and_flip


def test_every_image_is_a_crop_of_its_padded_self_or_its_mirror():
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(1, 256, (40, 3, 6, 5), dtype=torch.uint8, generator=generator)
    result = crop_and_flip(images, padding=2, generator=generator)
    assert result.dtype == torch.uint8
    seen = set()
    for before, after in zip(images, result, strict=True):
        padded = F.pad(before, (2, 2, 2, 2))
        found = [
            (top, left, mirrored)
            for mirrored in (False, True)
            for top in range(5)
            for left in range(5)
            if torch.equal(
                (padded.flip(2) if mirrored else padded)[:, top : top + 6, left : left + 5], after
            )
        ]
        assert len(found) == 1
        seen.update(found)
    assert {mirrored for *_, mirrored in seen} == {False, True}
    assert len({top for top, *_ in seen}) == 5


def test_is_reproducible():
    images = torch.rand(8, 3, 9, 9)
    first, again = (
        crop_and_flip(images, generator=torch.Generator().manual_seed(1)) for _ in range(2)
    )
    assert torch.equal(first, again)
