"""Small wheels of PyTorch and of NVIDIA, and a package index on loopback that serves them."""

import base64
import functools
import hashlib
import http.server
import io
import json
import mmap
import os
import re
import subprocess
import tempfile
import threading
import urllib.parse
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COMMIT = "cf30153c4c131c8164ee7798e5022d810682e2cb"

ANY = "py3-none-any"  # the tag of a wheel for any Python and machine
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"

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
    commit: str = COMMIT,
) -> Members:
    """The files of an ordinary wheel, whose CPU part needs two libraries of CUDA."""
    return {
        "torch/lib/libc10.so": library("libc10.so"),
        "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", *needed),
        "torch/lib/libtorch.so": library("libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so"),
        "torch/lib/libtorch_cuda.so": library("libtorch_cuda.so"),
        "torch/lib/libtorch_python.so": library("libtorch_python.so"),
        "torch/include/torch/torch.h": b"// torch\n",
        "torch/version.py": f"__version__ = '{version}'\ngit_version = '{commit}'\n".encode(),
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
    requires: Sequence[str] = (),
) -> bytes:
    """The bytes of a wheel with a true RECORD, or with the lines of another one. `requires`:
    further lines of its metadata."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"{line}\n" for line in requires)
    own = {
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": WHEEL.format(tag=ANY).encode(),
    }
    members = {**members, **own, **members}  # behind the others, but as the caller has them
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as wheel:
        for member, content in members.items():
            wheel.writestr(member, content)
            if "/bin/" in member:
                wheel.getinfo(member).external_attr = 0o100755 << 16
        wheel.writestr(f"{info}/RECORD", (record or record_of(members)) + f"{info}/RECORD,,\n")
    return file.getvalue()


@dataclass
class Served:
    """A file of the index, and what the index says of it."""

    content: bytes | mmap.mmap
    sha256: str  # that the index names; empty: none
    size: int = 0  # that the index names in JSON; 0: the true one
    yanked: bool | str = False  # or why
    uploaded: str = ""
    etag: str = ""  # empty: the server cannot tell whether the file is the same


def archive_of(members: Members) -> bytes:
    """The bytes of a LibTorch archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return file.getvalue()


def archive_members(version: str) -> Members:
    """The files of a LibTorch archive."""
    return {
        "libtorch/lib/libc10.so": library("libc10.so"),
        "libtorch/lib/libtorch_cpu.so": library("libtorch_cpu.so", "libc10.so"),
        "libtorch/include/torch/torch.h": b"// torch\n",
        "libtorch/bin/protoc": b"not wanted",
        "libtorch/build-version": f"{version}\n".encode(),
        "libtorch/build-hash": f"{COMMIT}\n".encode(),
    }


class Index:
    """Serves wheels at `url` until `close`, each with its hash. Keeps which were asked for."""

    def __init__(self) -> None:
        self.wheels: dict[str, Served] = {}  # by file name
        self.speaks_json = False  # PEP 691, to those who take it
        self.half_written = False  # the page ends in the middle
        self.writes_plus = False  # in the addresses of JSON, not %2B
        self.pages: dict[str, str] = {}  # by path, instead of what is made of `wheels`
        self.redirects: dict[str, str] = {}  # where a path leads
        self.states_length = True  # of files
        self.statuses: dict[str, int] = {}  # what a path is answered with instead
        self.cut_off: dict[str, int] = {}  # file name: how often half of what is asked is sent
        self.downloaded: list[str] = []  # file names, with ":BYTE" where the rest was asked for
        self.asked_for: list[str] = []  # file names that HEAD asked about
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, name: str, version: str, members: Members, record: str | None = None) -> None:
        """Publishes a wheel in place of the package's others."""
        self.wheels = {
            file: kept for file, kept in self.wheels.items() if not file.startswith(f"{name}-")
        }
        self.add(name, version, members, record)

    def add(
        self,
        name: str,
        version: str,
        members: Members,
        record: str | None = None,
        tag: str = ANY,
        requires: Sequence[str] = (),
    ) -> Served:
        if tag != ANY:
            members = members | {
                f"{name}-{version}.dist-info/WHEEL": WHEEL.format(tag=tag).encode()
            }
        content = wheel_of(name, version, members, record, requires=requires)
        served = Served(content, hashlib.sha256(content).hexdigest())
        self.wheels[f"{name}-{version}-{tag}.whl"] = served
        return served

    def add_file(self, wheel: Path) -> Served:
        """Publishes a wheel that lies on the disk."""
        with wheel.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.wheels[wheel.name] = Served(content, digest)
        return self.wheels[wheel.name]

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

    def files_of(self, package: str) -> list[str]:
        return [file for file in self.wheels if file.split("-")[0].replace("_", "-") == package]

    def link_to(self, file: str) -> str:
        about = self.wheels[file]
        fragment = f"#sha256={about.sha256}" if about.sha256 else ""
        attributes = ' data-yanked=""' if about.yanked else ""
        attributes += f' data-upload-time="{about.uploaded}"' if about.uploaded else ""
        address = urllib.parse.quote(file)
        return f'<a href="/files/{address}{fragment}"{attributes}>{file}</a><br/>\n'

    def page_of(self, package: str) -> bytes:
        links = "".join(self.link_to(file) for file in self.files_of(package))
        end = "" if self.half_written else "</body></html>"
        return f"<!DOCTYPE html><html><body>\n{links}{end}".encode()

    def json_of(self, package: str) -> bytes:
        files = [
            {
                "filename": file,
                "url": f"/files/{urllib.parse.quote(file, safe='/+' if self.writes_plus else '/')}",
                "hashes": {"sha256": about.sha256} if about.sha256 else {},
                "yanked": about.yanked,
                "size": about.size or len(about.content),
                "upload-time": about.uploaded or None,
            }
            for file, about in self.wheels.items()
            if file in self.files_of(package)
        ]
        page = {"meta": {"api-version": "1.1"}, "name": package, "files": files}
        text = json.dumps(page).encode()
        return text[: len(text) // 2] if self.half_written else text

    def handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        return type("Handler", (Handler,), {"index": self})


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for the index that it belongs to."""

    index: Index

    def do_GET(self) -> None:
        path = urllib.parse.unquote(self.path)
        kind, name = path.split("/")[1:3]
        if path in self.index.statuses:
            self.send_error(self.index.statuses[path])
        elif path in self.index.redirects:
            self.send_response(302)
            self.send_header("Location", self.index.redirects[path])
            self.end_headers()
        elif "+" in self.path or (kind == "files" and name not in self.index.wheels):
            self.send_error(403)  # as stores of files answer
        elif path in self.index.pages:
            self.answer(self.index.pages[path].encode(), "text/html", self.index.half_written)
        elif kind == "files":
            self.send_file(name)
        elif self.index.speaks_json and "v1+json" in self.headers.get("Accept", ""):
            self.answer(self.index.json_of(name), self.headers["Accept"].partition(",")[0])
        else:
            self.answer(self.index.page_of(name), "text/html")

    def do_HEAD(self) -> None:
        name = urllib.parse.unquote(self.path).rpartition("/")[2]
        self.index.asked_for.append(name)
        about = self.index.wheels.get(name)
        self.send_response(200 if about else 404)
        if about:
            self.send_header("Content-Length", str(len(about.content)))
            self.send_header("ETag", about.etag)
        self.end_headers()

    def answer(self, content: bytes, kind: str, is_cut: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_cut else content)

    def send_file(self, name: str) -> None:
        about = self.index.wheels[name]
        first = self.first_byte(about)
        self.index.downloaded.append(f"{name}:{first}" if first else name)
        content = about.content[first:]
        self.send_response(206 if first else 200)
        if self.index.states_length:
            self.send_header("Content-Length", str(len(content)))
        if about.etag:
            self.send_header("ETag", about.etag)
        if first:
            whole = len(about.content)
            self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
        self.end_headers()
        is_cut = self.index.cut_off.get(name, 0) > 0
        self.index.cut_off[name] = self.index.cut_off.get(name, 0) - 1
        self.wfile.write(content[: len(content) // 2] if is_cut else content)

    def first_byte(self, about: Served) -> int:
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        is_same = about.etag and self.headers.get("If-Range") == about.etag
        return int(wanted[1]) if wanted and is_same else 0

    def log_message(self, *_: object) -> None:
        pass
