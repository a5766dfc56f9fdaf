#include "fake_index.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "elf_maker.hpp"

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

// The packages' names begin alike, so the first that fits is the right one.
constexpr const char* kScript = R"sh(#!/bin/sh
here='@HERE@'
{ echo "$@"; env | sort; cat "$PIP_CONFIG_FILE"; } > "$here/last-call"
case "$*" in
  *" index versions torch") echo "index" >> "$here/requests"
    echo "WARNING: experimental"; echo "torch (2.0.0)"; echo "Available versions: 2.0.0, 1.2.3"
    exit 0;;
esac
while [ $# -gt 1 ]; do [ "$1" = -d ] && folder=$2; shift; done
echo "$1" >> "$here/requests"
case "$1" in
  torch===1.2.3) package=torch;;
  nvidia-cuda-runtime==13.*) package=nvidia-cuda-runtime;;
  nvidia-cuda-cupti==13.*) package=nvidia-cuda-cupti;;
  *) echo "ERROR: No matching distribution found for $1"; exit 1;;
esac
[ -e "$here/broken" ] && { echo "ERROR: Could not connect"; exit 1; }
cp "$here/$package.whl" "$folder/$package-1-py3-none-any.whl"
)sh";

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string small_library(const std::string& name) {
  return zip_of(
      with_record({{.name = "nvidia/cu13/lib/" + name, .content = bytes_of({.soname = name})},
                   {.name = "nvidia/cu13/lib/libmore.so", .content = "not needed"}},
                  name));
}

}  // namespace

std::vector<ZipEntry> torch_members(const std::string& version) {
  const std::string origin = "$ORIGIN/../../nvidia/cu13/lib:$ORIGIN";
  return {
      {.name = "torch/lib/libc10.so", .content = bytes_of({.symbols = {"torchCheckFail__cxx11"}})},
      {.name = "torch/lib/libtorch_cpu.so",
       .content = bytes_of(
           {.needed = {"libc10.so", "libcupti.so.13", "libcudart.so.13"}, .rpath = origin})},
      {.name = "torch/lib/libtorch.so",
       .content = bytes_of({.needed = {"libtorch_cuda.so"}, .rpath = origin})},
      {.name = "torch/include/torch/torch.h", .content = "// torch\n"},
      {.name = "torch/version.py",
       .content =
           "__version__ = '" + version + "'\ngit_version = '" + std::string(40, 'a') + "'\n"},
      {.name = "torch/nn/modules.py", .content = "not needed\n"}};
}

FakeIndex::FakeIndex() {
  std::string script = kScript;
  const std::string sign = "@HERE@";
  script.replace(script.find(sign), sign.size(), folder_.path().string());
  fs::permissions(folder_.write("python3", script), fs::perms::owner_all);
  serve("torch", zip_of(with_record(torch_members(), "torch-1.2.3")));
  serve("nvidia-cuda-runtime", small_library("libcudart.so.13"));
  serve("nvidia-cuda-cupti", small_library("libcupti.so.13"));
}

void FakeIndex::serve(const std::string& package, const std::string& bytes) const {
  folder_.write(package + ".whl", bytes);
}

std::vector<std::string> FakeIndex::requests() const {
  std::vector<std::string> requests;
  std::ifstream file(folder_.path() / "requests");
  for (std::string line; std::getline(file, line);) requests.push_back(line);
  return requests;
}

std::string FakeIndex::last_call() const {
  return slurp(folder_.path() / "last-call");
}

std::vector<std::string> FakeIndex::cached() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(cache())) {
    const std::string name = entry.path().lexically_relative(cache()).string();
    if (name != "lock" && !entry.is_directory()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace torchwatch::test
