#include "kit_sources.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "torchwatch/process/process.hpp"

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

/// As little of models and runner as the real runner/kit and cmake/ can be tried with.
constexpr const char* kRunner = R"(
file(GLOB sources src/*.cpp)
add_executable(torchwatch-runner ${sources})
target_link_libraries(torchwatch-runner PRIVATE torchwatch::models)
)";
constexpr const char* kModels = R"(
file(STRINGS workloads.txt lines REGEX "^[a-z]")
set(table "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^[a-z]+" name "${line}")
  if(name IN_LIST TORCHWATCH_WORKLOADS)
    string(APPEND table "WORKLOAD(${name})\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT generated/registry_table.inc CONTENT "${table}" @ONLY)
file(GLOB core core/*.cpp)
torchwatch_component(models SOURCES domain/greek.cpp ${core} USES records PUBLIC torchwatch::libtorch)
target_include_directories(torchwatch_models PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
target_precompile_headers(torchwatch_models PRIVATE <our_torch.hpp>)
)";
/// Handed strings by the others, and does not see LibTorch.
constexpr const char* kRecords = R"(
#include <string>
std::string recorded(const std::string& text) { return text; }
)";
constexpr const char* kMain = R"(
const char* list();
int torch_number();
/// Only in a libtorch.so, which is not linked everywhere.
int overlay_number() __attribute__((weak));
extern "C" int puts(const char*);
extern "C" int printf(const char*, ...);
int main() { puts(list()); printf("%d %d\n", torch_number(), overlay_number ? overlay_number() : -1); }
)";
/// Links with a library of its own C++ ABI only.
constexpr const char* kRegistry = R"(
namespace c10::detail {
void torchCheckFail(const char*, const char*, unsigned, const std::string&);
}
std::string recorded(const std::string& text);
#define WORKLOAD(name) const char* name();
#include "registry_table.inc"
#undef WORKLOAD
const char* list() {
  static std::string text;
#define WORKLOAD(name) text += name();
#include "registry_table.inc"
  text = recorded(text);
  c10::detail::torchCheckFail("", "", 0, text);
  return text.c_str();
}
)";

}  // namespace

KitSources::KitSources() {
  const std::string root = "my sources/";
  for (const char* folder : {"cmake", "runner/kit"}) {
    fs::create_directories(sources() / folder);
    fs::copy(fs::path(TORCHWATCH_SOURCE_DIR) / folder, sources() / folder);
  }
  folder_.write(root + "storage/records/CMakeLists.txt",
                "torchwatch_component(records SOURCES src/recorded.cpp)\n");
  folder_.write(root + "storage/records/src/recorded.cpp", kRecords);
  for (const char* folder : {"runner/protocol", "runner/activity", "runner/torch"}) {
    folder_.write(root + folder + "/CMakeLists.txt", "# nothing of it is needed here\n");
  }
  folder_.write(root + "runner/CMakeLists.txt", kRunner);
  folder_.write(root + "models/CMakeLists.txt", kModels);
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

fs::path KitSources::make_tree(const std::string& name, int number, const std::string& header_text,
                               int cxx11_abi) const {
  const fs::path tree = folder_.path() / name;
  folder_.write(name + "/include/torch/csrc/api/include/torch/torch.h",
                "#pragma once\n" + header_text + "\n");
  folder_.write(name + "/include/torch/version.h", "// " + name + "\n");
  folder_.write(name + "/build-version", name);
  fs::create_directories(tree / "lib");
  // Builds of the old ABI export names with __cxx11 in them too.
  compile_library(
      tree / "lib/libc10.so",
      "#include <string>\nnamespace c10::detail { void torchCheckFail(const char*, const "
      "char*, unsigned, const std::string&) {} }\nextern \"C\" void uses__cxx11() {}\n",
      {"-D_GLIBCXX_USE_CXX11_ABI=" + std::to_string(cxx11_abi)});
  compile_library(tree / "lib/libtorch_cpu.so",
                  "int torch_number() { return " + std::to_string(number) + "; }", {});
  make_libtorch(tree, number, {"-Wl,-rpath,$ORIGIN"});
  folder_.write(name + "/build-hash", std::string(40, 'a'));
  return tree;
}

void KitSources::make_libtorch(const fs::path& tree, int number,
                               const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"-L" + (tree / "lib").string(), "-Wl,--no-as-needed",
                                     "-ltorch_cpu"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  compile_library(tree / "lib/libtorch.so",
                  "int overlay_number() { return " + std::to_string(number) + "; }", arguments);
}

fs::path KitSources::make_overlay(const std::string& name, const fs::path& base, int number) const {
  const fs::path tree = folder_.path() / name;
  folder_.write(name + "/build-version", name);
  fs::create_directories(tree / "lib");
  for (const char* library : {"libc10.so", "libtorch_cpu.so"}) {
    fs::create_symlink(base / "lib" / library, tree / "lib" / library);
  }
  fs::create_symlink(base / "include", tree / "include");
  make_libtorch(tree, number, {});
  folder_.write(name + "/build-hash", std::string(40, 'b'));
  return tree;
}

std::string output_of(const fs::path& program, const std::vector<std::string>& arguments,
                      const std::string& library_path) {
  static const auto runner =
      process::make_process_runner("integration-kits-" + std::to_string(getpid()));
  std::map<std::string, std::string> environment{{"PATH", "/usr/bin:/bin"}};
  if (!library_path.empty()) environment["LD_LIBRARY_PATH"] = library_path;
  const auto outcome = runner->run({.program = program,
                                    .arguments = arguments,
                                    .environment = environment,
                                    .working_folder = "/",
                                    .time_limit = std::chrono::seconds(100),
                                    .output_limit_bytes = 1'000'000,
                                    .label = {},
                                    .cpus = {},
                                    .on_started = {}});
  INFO(program << ": " << process::describe(outcome.end) << "\n" << outcome.output);
  REQUIRE(process::succeeded(outcome));
  return outcome.output;
}

}  // namespace torchwatch::test
