"""Builds the loss kernel, plain C without any header of Python or torch, into the wheel.

One wheel per platform serves every Python and every torch. Without a compiler the build succeeds
all the same, and the losses run by their formulas. Run as a script, it builds in place.

A hook of the backend that was there, not CMake: it is one command of the compiler, it needs nothing
to be downloaded first, and where that command fails there is nothing to undo.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object

NATIVE = Path(__file__).parent / "src" / "simloss" / "loss" / "native"
LIBRARY = NATIVE / "kernel.so"
FLAGS = "-std=gnu11 -O3 -fPIC -shared -fno-math-errno -fno-trapping-math -fopenmp-simd -Wno-psabi"


def build(*flags: str, out: Path = LIBRARY) -> bool:
    """Compile the kernel; whether that was possible. An older one is gone either way."""
    out.unlink(missing_ok=True)
    compiler = shlex.split(os.environ.get("CC") or shutil.which("cc") or "cc")
    part = out.with_suffix(f".{os.getpid()}")
    sources = [str(path) for path in sorted(NATIVE.glob("*.c"))]
    command = [*compiler, *FLAGS.split(), *flags, "-o", str(part), *sources, "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        print(f"simloss: no compiler ({error}); the losses run by their formulas.", file=sys.stderr)
        return False
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        print(f"simloss: the kernel was not built: {reason}", file=sys.stderr)
        part.unlink(missing_ok=True)
        return False
    part.replace(out)
    return True


class KernelHook(BuildHookInterface):
    """Adds the library to a wheel, which then belongs to this platform."""

    def initialize(self, version: str, build_data: dict) -> None:
        if self.target_name != "wheel" or not build():
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
        build_data["artifacts"].append("src/simloss/loss/native/kernel.so")


if __name__ == "__main__":
    sys.exit(not build(*sys.argv[1:]))
