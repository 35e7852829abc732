"""Builds the program from the checkout with Go and puts it into the wheel.

COLLOCATE_WHEEL=GOOS/GOARCH[/nogpu] cross-compiles, as `make wheels` does. Without it the wheel is
for this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Programs of Go 1.26 run on macOS 12 and later. On Linux they are linked dynamically, and need only
# libc, libdl and libpthread; those without GPU support are static.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "linux/amd64/nogpu": "musllinux_1_1_x86_64",
    "linux/arm64/nogpu": "musllinux_1_1_aarch64",
    "darwin/arm64": "macosx_12_0_arm64",
    "darwin/amd64": "macosx_12_0_x86_64",
}


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            self._build(Path(self.root) / "src" / "collocate" / "bin", this_machine())
            return
        target = os.environ.get("COLLOCATE_WHEEL") or this_machine()
        if target not in TAGS:
            raise RuntimeError(f"there is no wheel for {target}: want one of {', '.join(TAGS)}")
        # Absolute, since Go runs in the checkout and the path is relative to this folder.
        dist = Path(self.root, self.directory).absolute()
        binary = self._build(dist / "bin" / target.replace("/", "-"), target)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[target]}"
        build_data["force_include"][str(binary)] = "collocate/bin/collocate"
        licence = Path(self.root).parent
        for name in ("LICENSE", "NOTICE"):
            build_data["force_include"][str(licence / name)] = f"collocate/{name}"

    def _build(self, folder: Path, target: str) -> Path:
        checkout = Path(self.root).parent
        binary = folder / "collocate"
        if not (checkout / "go.mod").exists():
            raise RuntimeError("building needs a checkout: python/ alone has no program")
        if shutil.which("go") is None:
            raise RuntimeError("building needs Go 1.26 or later (https://go.dev/dl); wheels do not")
        goos, goarch, *tags = target.split("/")
        name = self.metadata.version
        subprocess.run(
            ["go", "build", "-trimpath", "-buildvcs=false", "-tags", ",".join(tags),
             "-ldflags", f"-s -w -X main.version=v{name}", "-o", str(binary), "./cmd/collocate"],
            cwd=checkout,
            env={**os.environ, "CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch},
            check=True,
        )  # fmt: skip
        return binary


def this_machine() -> str:
    goos, _, goarch = subprocess.run(
        ["go", "env", "GOOS", "GOARCH"], capture_output=True, text=True, check=True
    ).stdout.partition("\n")
    goarch = goarch.strip()
    libc = (
        "/nogpu"
        if goos == "linux" and "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
        else ""
    )
    return f"{goos}/{goarch}{libc}"
