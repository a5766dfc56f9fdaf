#include "kit_sources.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "torchwatch/doors/process.hpp"

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = R"text({"schema": 1, "plain_sources": ["runner/src"],
  "libtorch_sources": ["models/core"], "workloads": "models/workloads.txt",
  "workload_folder": "models", "include": ["models/include"],
  "precompiled_header": "our_torch.hpp", "table_file": "registry_table.inc",
  "table_line": "WORKLOAD(@NAME@)", "compile": ["-std=c++20", "-O0"],
  "link": ["-Wl,--no-as-needed"], "executable": "torchwatch-runner"})text";
constexpr const char* kMain = R"(
const char* list();
int torch_number();
int overlay_number();
extern "C" int puts(const char*);
extern "C" int printf(const char*, ...);
int main() { puts(list()); printf("%d %d\n", torch_number(), overlay_number()); }
)";
constexpr const char* kRegistry = R"(
#define WORKLOAD(name) const char* name();
#include "registry_table.inc"
#undef WORKLOAD
const char* list() {
  static std::string text;
#define WORKLOAD(name) text += name();
#include "registry_table.inc"
  return text.c_str();
}
)";

}  // namespace

KitSources::KitSources() {
  const std::string root = "my sources/";
  folder_.write(root + "runner/kit/manifest.json", kManifest);
  folder_.write(root + "runner/src/main.cpp", kMain);
  folder_.write(root + "models/workloads.txt", "alpha domain/greek.cpp\nbeta domain/greek.cpp\n");
  folder_.write(root + "models/core/registry.cpp", kRegistry);
  folder_.write(
      root + "models/domain/greek.cpp",
      "const char* alpha() { return \"alpha \"; }\nconst char* beta() { return \"beta \"; }\n");
  folder_.write(root + "models/include/our_torch.hpp",
                "#include <string>\n#include <torch/torch.h>\n#include <torch/version.h>\n");
}

void KitSources::compile_library(const fs::path& file, const std::string& text,
                                 const std::vector<std::string>& more) const {
  const auto source = folder_.write("library.cpp", text);
  std::vector<std::string> arguments{
      "-shared", "-fPIC", "-O0", "-o", file, source, "-Wl,-soname," + file.filename().string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  output_of("g++", arguments);
}

fs::path KitSources::make_tree(const std::string& name, int number,
                               const std::string& header_text) const {
  const fs::path tree = folder_.path() / name;
  folder_.write(name + "/include/torch/csrc/api/include/torch/torch.h",
                "#pragma once\n" + header_text + "\n");
  folder_.write(name + "/include/torch/version.h", "// " + name + "\n");
  folder_.write(name + "/build-version", name);
  fs::create_directories(tree / "lib");
  compile_library(
      tree / "lib/libc10.so",
      "#include <string>\nnamespace c10::detail { void torchCheckFail(const char*, const "
      "char*, unsigned, const std::string&) {} }\n",
      {});
  compile_library(tree / "lib/libtorch_cpu.so",
                  "int torch_number() { return " + std::to_string(number) + "; }", {});
  compile_library(
      tree / "lib/libtorch.so", "int overlay_number() { return " + std::to_string(number) + "; }",
      {"-L" + (tree / "lib").string(), "-Wl,--no-as-needed", "-ltorch_cpu", "-Wl,-rpath,$ORIGIN"});
  folder_.write(name + "/build-hash", std::string(40, 'a'));
  return tree;
}

fs::path KitSources::make_overlay(const std::string& name, const fs::path& base, int number) const {
  const fs::path tree = folder_.path() / name;
  folder_.write(name + "/build-version", name);
  fs::create_directories(tree / "lib");
  for (const char* library : {"libc10.so", "libtorch_cpu.so"}) {
    fs::create_symlink(base / "lib" / library, tree / "lib" / library);
  }
  fs::create_symlink(base / "include", tree / "include");
  compile_library(tree / "lib/libtorch.so",
                  "int overlay_number() { return " + std::to_string(number) + "; }",
                  {"-L" + (base / "lib").string(), "-Wl,--no-as-needed", "-ltorch_cpu"});
  folder_.write(name + "/build-hash", std::string(40, 'b'));
  return tree;
}

std::string output_of(const fs::path& program, const std::vector<std::string>& arguments,
                      const std::string& library_path) {
  static const auto runner =
      doors::make_process_runner("integration-kits-" + std::to_string(getpid()));
  std::map<std::string, std::string> environment{{"PATH", "/usr/bin:/bin"}};
  if (!library_path.empty()) environment["LD_LIBRARY_PATH"] = library_path;
  const auto outcome = runner->run({.program = program,
                                    .arguments = arguments,
                                    .environment = environment,
                                    .working_folder = "/",
                                    .time_limit = std::chrono::seconds(100),
                                    .output_limit_bytes = 1'000'000,
                                    .tag = {},
                                    .cpus = {},
                                    .on_started = {}});
  INFO(program << ": " << doors::describe(outcome.end) << "\n" << outcome.output);
  REQUIRE(doors::succeeded(outcome));
  return outcome.output;
}

}  // namespace torchwatch::test
