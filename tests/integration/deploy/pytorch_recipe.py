"""What the tests of the recipe for PyTorch share."""

import subprocess
from pathlib import Path

from support import DEPLOY, ScriptTest

# Configures by noting its arguments; installs a library into the prefix it was configured with.
CMAKE = """
calls=$TORCHWATCH_PYTORCH_WORK/calls
echo "$@" >> "$calls"
if [[ $1 == --build ]]; then
  prefix=$(sed -n 's/.*-DCMAKE_INSTALL_PREFIX=\\([^ ]*\\).*/\\1/p' "$calls" | tail -n 1)
  mkdir -p "$prefix/lib" && touch "$prefix/lib/libtorch_cpu.so"
  if grep -q USE_CUDA=ON "$calls"; then touch "$prefix/lib/libtorch_cuda.so"; fi
fi
"""


class PyTorchRecipe(ScriptTest):
    """A clone with a submodule, and stand-ins for what builds it."""

    def setUp(self) -> None:
        super().setUp()
        self.path: str | None = None
        self.launcher: list[object] = []  # what runs the recipe
        self.clone, self.work = self.folder / "clone", self.folder / "work"
        part = self.folder / "part"
        self.repository(part, {"part.cpp": "part"})
        self.repository(self.clone, {"version.txt": "2.13.0a0\n", "main.cpp": "main"})
        self.git(self.clone, "submodule", "--quiet", "add", part, "third_party/part")
        self.git(self.clone, "commit", "--quiet", "--message", "Add a part")
        self.commit = self.git(self.clone, "rev-parse", "HEAD").strip()
        self.stand_in("cmake", CMAKE)
        self.stand_in("python3", "exit 0\n")
        self.stand_in("ninja", "exit 0\n")

    def git(self, folder: Path, *arguments: str | Path) -> str:
        command: list[str | Path] = [
            "git",
            "-C",
            folder,
            "-c",
            "protocol.file.allow=always",
            "-c",
            "user.name=Nobody",
            "-c",
            "user.email=nobody@example.invalid",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def repository(self, folder: Path, files: dict[str, str]) -> None:
        folder.mkdir()
        self.git(folder, "init", "--quiet")
        for name, text in files.items():
            (folder / name).write_text(text)
        self.git(folder, "add", ".")
        self.git(folder, "commit", "--quiet", "--message", "Begin")

    def build(
        self, name: str = "build", recipe: str = "pytorch-cpu", **variables: object
    ) -> subprocess.CompletedProcess[str]:
        self.prefix = self.folder / name
        self.prefix.mkdir()
        settings: dict[str, object] = {
            "TORCHWATCH_SOURCE": self.folder,
            "TORCHWATCH_COMMIT": self.commit,
            "TORCHWATCH_PREFIX": self.prefix,
            "TORCHWATCH_BASE": "",
            "TORCHWATCH_JOBS": 3,
            "TORCHWATCH_PYTORCH_CLONE": self.clone,
            "TORCHWATCH_PYTORCH_WORK": self.work,
            # Submodules of this test are folders, which git refuses unless this allows it.
            "GIT_CONFIG_COUNT": 1,
            "GIT_CONFIG_KEY_0": "protocol.file.allow",
            "GIT_CONFIG_VALUE_0": "always",
        }
        settings.update(variables)
        return self.run_script(
            *self.launcher,
            DEPLOY / "recipes" / recipe,
            path=self.path,
            **{k: str(v) for k, v in settings.items()},
        )
