"""Small wheels of PyTorch and of NVIDIA, and a package index on loopback that serves them."""

import base64
import functools
import hashlib
import http.server
import io
import os
import subprocess
import tempfile
import threading
import urllib.parse
import zipfile
from collections.abc import Sequence
from pathlib import Path

COMMIT = "cf30153c4c131c8164ee7798e5022d810682e2cb"

Members = dict[str, bytes]


@functools.cache
def library(name: str, *needed: str) -> bytes:
    """The bytes of a shared library that is linked against others beside it."""
    with tempfile.TemporaryDirectory() as folder:

        def link(output: Path, *inputs: Path) -> None:
            subprocess.run(
                [
                    "g++",
                    "-shared",
                    "-nostdlib",
                    f"-Wl,-soname,{output.name},-rpath,$ORIGIN",
                    "-Wl,--no-as-needed",
                    "-o",
                    output,
                    *inputs,
                    "-x",
                    "c++",
                    os.devnull,
                ],
                check=True,
            )

        stubs = [Path(folder, "stubs", other) for other in needed]
        Path(folder, "stubs").mkdir()
        for stub in stubs:
            link(stub)
        link(Path(folder, name), *stubs)
        return Path(folder, name).read_bytes()


def torch_members(
    version: str = "1.2.3+cu130",
    needed: Sequence[str] = ("libc10.so", "libcupti.so.13", "libcudart.so.13"),
) -> Members:
    """The files of an ordinary wheel, whose CPU part needs two libraries of CUDA."""
    return {
        "torch/lib/libc10.so": library("libc10.so"),
        "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", *needed),
        "torch/lib/libtorch.so": library("libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so"),
        "torch/lib/libtorch_cuda.so": library("libtorch_cuda.so"),
        "torch/lib/libtorch_python.so": library("libtorch_python.so"),
        "torch/include/torch/torch.h": b"// torch\n",
        "torch/version.py": f"__version__ = '{version}'\ngit_version = '{COMMIT}'\n".encode(),
        "torch/nn/modules.py": b"# Python\n",
    }


def nvidia_members(name: str) -> Members:
    return {f"nvidia/cu13/lib/{name}": library(name), "nvidia/cu13/lib/libmore.so": b"not needed"}


def record_of(members: Members) -> str:
    """The lines of a RECORD: name, hash and size of each member."""

    def digest(content: bytes) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")

    return "".join(
        f"{name},sha256={digest(content)},{len(content)}\n" for name, content in members.items()
    )


def wheel_of(
    name: str,
    version: str,
    members: Members,
    record: str | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """The bytes of a wheel with a true RECORD, or with the lines of another one."""
    info = f"{name}-{version}.dist-info"
    members = {
        **members,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as wheel:
        for member, content in members.items():
            wheel.writestr(member, content)
        wheel.writestr(f"{info}/RECORD", (record or record_of(members)) + f"{info}/RECORD,,\n")
    return file.getvalue()


class Index:
    """Serves wheels at `url` until `close`, each with its hash. Keeps which were asked for."""

    def __init__(self) -> None:
        self.wheels: dict[
            str, tuple[bytes, str]
        ] = {}  # file name: (bytes, hash that the index names)
        self.cut_off: set[str] = set()  # file names of which half is sent
        self.downloaded: list[str] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, name: str, version: str, members: Members, record: str | None = None) -> None:
        """Publishes a wheel in place of the package's others."""
        self.wheels = {
            file: kept for file, kept in self.wheels.items() if not file.startswith(f"{name}-")
        }
        self.add(name, version, members, record)

    def add(self, name: str, version: str, members: Members, record: str | None = None) -> None:
        content = wheel_of(name, version, members, record)
        self.wheels[f"{name}-{version}-py3-none-any.whl"] = (
            content,
            hashlib.sha256(content).hexdigest(),
        )

    def serve_release(self) -> None:
        """Publishes PyTorch and the two packages of NVIDIA that it needs."""
        self.serve("torch", "1.2.3", torch_members())
        self.serve("nvidia_cuda_runtime", "13.0.96", nvidia_members("libcudart.so.13"))
        self.serve("nvidia_cuda_cupti", "13.0.85", nvidia_members("libcupti.so.13"))

    def environment(self) -> dict[str, str]:
        """This process's environment with pip directed to this index alone."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PIP_") and not name.lower().endswith("_proxy")
        }
        return kept | {"PIP_INDEX_URL": self.url, "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def page_of(self, package: str) -> str:
        names = [file for file in self.wheels if file.split("-")[0].replace("_", "-") == package]
        return "".join(
            f'<a href="/files/{file}#sha256={self.wheels[file][1]}">{file}</a>\n' for file in names
        )

    def handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _, kind, name = urllib.parse.unquote(self.path).split("/")[:3]
                if kind == "files":
                    index.downloaded.append(name)
                    self.answer(index.wheels[name][0], cut_off=name in index.cut_off)
                else:
                    self.answer(index.page_of(name).encode())

            def answer(self, content: bytes, *, cut_off: bool = False) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if cut_off else content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
