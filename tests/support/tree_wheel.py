"""A wheel of a LibTorch tree, as PyTorch publishes it."""

import base64
import hashlib
import zipfile
from pathlib import Path

PARTS = ("lib", "include", "share")
TAG = "cp311-cp311-manylinux_2_28_x86_64"
BLOCK_BYTES = 1 << 20


def write_wheel(tree: Path, folder: Path) -> Path:
    """Packs the libraries and headers of a tree, and what it says of itself. Nothing is compressed:
    half a gigabyte would take a minute."""
    version, commit = ((tree / f"build-{of}").read_text().strip() for of in ("version", "hash"))
    info = f"torch-{version}.dist-info"
    texts = {
        "torch/version.py": f"__version__ = '{version}'\ngit_version = '{commit}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {TAG}\n",
    }
    file = folder / f"torch-{version}-{TAG}.whl"
    record = ""
    with zipfile.ZipFile(file, "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(name, text)
            record += line_of(name, hashlib.sha256(text.encode()), len(text))
        for part in PARTS:
            for path in sorted((tree / part).rglob("*")):
                if path.is_file():
                    name = f"torch/{path.relative_to(tree)}"
                    record += line_of(name, add(path, name, wheel), path.stat().st_size)
        wheel.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return file


def add(path: Path, name: str, wheel: zipfile.ZipFile) -> "hashlib._Hash":
    digest = hashlib.sha256()
    member = zipfile.ZipInfo(name)
    member.file_size = path.stat().st_size
    with path.open("rb") as source, wheel.open(member, "w") as target:
        while block := source.read(BLOCK_BYTES):
            digest.update(block)
            target.write(block)
    return digest


def line_of(name: str, digest: "hashlib._Hash", size: int) -> str:
    text = base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
    return f"{name},sha256={text},{size}\n"
