"""The kernel under the address and undefined-behaviour sanitizers: `python -m torture.kernel N`.

N random calls, and calls at every edge: NaN, infinities, denormals, C = 1, strides of every kind,
targets out of range. Each is compared with the formula. Started without the sanitizers, it builds
the kernel with them and starts itself again.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
FLAGS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
EDGES = (0.0, -0.0, 1e-40, -1e-40, 1e30, -1e30, 3e38, -3e38, float("-inf"))
WRONG = (float("nan"), float("inf"))


def main(calls: int) -> None:
    """Build, restart, and print what was tried."""
    if "SIMLOSS_NATIVE" in os.environ:
        print(f"{exercise(calls):,} calls of the kernel under the sanitizers, none amiss.")
        return
    sys.path.insert(0, str(ROOT))
    from hatch_build import build

    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        if not build(*FLAGS, out=library):
            raise SystemExit("the kernel could not be built with the sanitizers.")
        found = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        )
        environment = {
            **os.environ,
            "SIMLOSS_NATIVE": str(library),
            "LD_PRELOAD": found.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        command = [sys.executable, "-m", "torture.kernel", str(calls)]
        done = subprocess.run(command, env=environment, cwd=ROOT)
    raise SystemExit(done.returncode)


def exercise(calls: int) -> int:
    """Compare `calls` calls with the formula, and more at the edges; returns their number."""
    import simloss

    assert simloss.native_kernel(), "the kernel must be there"
    generator = torch.Generator().manual_seed(0)
    for call in range(calls):
        _one(call, generator)
    return calls


def _one(call: int, generator: torch.Generator) -> None:
    from simloss.loss import kernel
    from simloss.loss.contract import Options
    from simloss.loss.formula import formula_loss
    from simloss.loss.proper import PROPER_SIM_LOSS
    from simloss.loss.sim import SIM_LOSS
    from simloss.loss.soft_target import SOFT_TARGET_LOSS

    def pick(*values: Any) -> Any:
        return values[int(torch.randint(len(values), (), generator=generator))]

    formula = pick(SIM_LOSS, PROPER_SIM_LOSS, SOFT_TARGET_LOSS)
    C = pick(1, 2, 3, 8, 15, 16, 17, 33, 129, 150)
    shape = pick((), (1,), (5,), (16,), (37,), (2, 3), (3, 5, 2), (1, 40))
    dtype = pick(torch.float32, torch.float64)
    sizes = (C,) if shape == () else (shape[0], C, *shape[1:])
    z = pick(1.0, 40.0, 1e4) * torch.randn(sizes, generator=generator, dtype=dtype)
    edge = pick(None, None, *EDGES, *WRONG)
    if edge is not None:
        z = torch.where(torch.rand(z.shape, generator=generator) < 0.2, edge, z)
    if pick(0, 1) and z.ndim > 2:
        z = z.transpose(0, 2).contiguous().transpose(0, 2)
    elif pick(0, 1) and z.ndim > 1:
        z = torch.cat([z, z], 1)[:, ::2] if C > 1 else z
    is_soft = pick(0, 0, 1)
    y = torch.randint(C, shape, generator=generator)
    target = torch.rand(z.shape, generator=generator, dtype=dtype) if is_soft else y
    options = Options(
        pick(None, torch.rand(C, generator=generator) + 0.1),
        -100 if is_soft else pick(-100, 0),
        pick("mean", "sum", "none"),
        pick(0.0, 0.0, 0.2, 1.0),
        pick(0.0, 0.0, 0.3, 1.0),
        pick(0.0, _graph(pick, C, generator)),
    )
    S = _similarity(pick, C, generator)
    if pick(0, 0, 0, 0, 0, 0, 1) and not is_soft:
        wrong = y.clone().reshape(-1)
        wrong[-1] = pick(C, -1, 10**15, -(10**15))
        try:
            kernel.kernel_loss(formula, z, wrong.reshape(shape), S, options)
        except ValueError:
            return
        raise AssertionError("a target out of range was taken")
    z.requires_grad_()
    ours = kernel.kernel_loss(formula, z, target, S, options)
    theirs = formula_loss(formula, z, target, S, options)
    seed = torch.ones_like(ours)
    found = torch.autograd.grad(ours, z, seed)[0]
    wanted = torch.autograd.grad(theirs, z, seed)[0]
    if edge in WRONG or (edge is not None and abs(edge) > 1e29):
        return  # that memory is left alone is what counts there
    tolerance = 1e-9 if dtype == torch.float64 else 5e-4
    scale = max(1.0, float(theirs.detach().nan_to_num(posinf=0).abs().max())) if ours.numel() else 1
    close = torch.allclose(ours / scale, theirs / scale, tolerance, tolerance, equal_nan=True)
    assert close and torch.allclose(found, wanted, tolerance, tolerance, equal_nan=True), (
        call, formula.name, S, sizes, options, edge, ours, theirs,
    )  # fmt: skip


def _similarity(pick: Any, C: int, generator: torch.Generator) -> Any:
    from simloss.similarity import circular, matrix, order, sparse

    dense = torch.rand(C, C, generator=generator, dtype=torch.float64)
    dense[torch.rand(C, C, generator=generator) < 0.5] = 0
    dense.fill_diagonal_(1)
    made = pick(
        order(C, pick(0.0, 1e-9, 0.5, 0.95)),
        circular(C, pick(0.0, 0.6)),
        matrix(dense),
        matrix(dense.float()),
        sparse(matrix(dense)),
        sparse(matrix(dense.float())),
    )
    return made.normalized() if pick(0, 0, 1) else made


def _graph(pick: Any, C: int, generator: torch.Generator) -> Any:
    """A line, a ring, nearest classes, or any edges between any nodes."""
    from simloss.similarity import ClassGraph, circular, class_graph, matrix, order

    nearest = torch.rand(C, C, generator=generator).fill_diagonal_(1)
    groups, edges, members = pick(1, 3, C + 5), pick(1, C, 3 * C), pick(1, C, 4 * C)
    some = [torch.randint(C + groups, (edges,), generator=generator) for _ in range(2)]
    group = torch.randint(groups, (members,), generator=generator)
    group[-1] = groups - 1
    member = torch.randint(C, (members,), generator=generator)
    weight = torch.rand(edges, generator=generator, dtype=torch.float64) / edges
    made = pick(
        class_graph(order(C, 0.5)),
        class_graph(circular(C, 0.5)),
        class_graph(matrix(nearest)),
        ClassGraph(C, *some, weight, member, group, 1.0),
    )
    return pick(1e-3, 0.3) * made


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
