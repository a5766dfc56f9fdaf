#include "kit_manifest.hpp"

#include <catch2/catch.hpp>

#include "header_closure.hpp"
#include "temporary_folder.hpp"
#include "tool_run.hpp"
#include "torchwatch/builds/tool_environment.hpp"

namespace torchwatch::builds {
namespace {

using Names = std::vector<std::string>;

std::vector<std::string> names_of(const std::vector<WorkloadEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

TEST_CASE("a list of workloads has a name and a file in each line that is no comment") {
  const test::TemporaryFolder folder;
  const auto list = read_workload_list(folder.write(
      "w.txt", "# name file\nresnet18 computer_vision/resnet.cpp\n\n  dlrm  r/dlrm.cpp\n"));
  REQUIRE(list.has_value());
  CHECK(names_of(*list) == Names{"resnet18", "dlrm"});
  CHECK(list->at(1).file == "r/dlrm.cpp");
}

TEST_CASE("a line that is none of a workload is refused with its text") {
  const test::TemporaryFolder folder;
  const std::string line = GENERATE("resnet18", "resnet18 a.cpp more", "a$(reboot) x.cpp",
                                    "resnet18 ../../x.cpp", "resnet18 \"x\".cpp");
  const auto list = read_workload_list(folder.write("w.txt", line + "\n"));
  REQUIRE_FALSE(list.has_value());
  CHECK(list.error().code == ErrorCode::invalid);
  CHECK(list.error().message.find(line) != std::string::npos);
}

TEST_CASE("workloads are chosen once each, in the list's order") {
  const std::vector<WorkloadEntry> list{{"a", "a.cpp"}, {"b", "b.cpp"}, {"c", "c.cpp"}};
  const auto chosen = choose_workloads(list, {"c", "a", "c"});
  REQUIRE(chosen.has_value());
  CHECK(names_of(*chosen) == Names{"a", "c"});
}

TEST_CASE("an unknown workload is named with those near to it") {
  const std::vector<WorkloadEntry> list{
      {"resnet18", "r.cpp"}, {"hf_DistilBert", "d.cpp"}, {"dlrm", "l.cpp"}};
  const auto error = [&](const std::string& name) {
    const auto chosen = choose_workloads(list, {"dlrm", name});
    REQUIRE_FALSE(chosen.has_value());
    CHECK(chosen.error().code == ErrorCode::invalid);
    CHECK(chosen.error().message.find('"' + name + '"') != std::string::npos);
    return chosen.error().message;
  };
  CHECK(error("resnet").find("resnet18") != std::string::npos);
  CHECK(error("distilbert").find("hf_DistilBert") != std::string::npos);
  CHECK(error("resent18").find("resnet18") != std::string::npos);
  CHECK(error("nothing_like").find("lists them") != std::string::npos);
}

TEST_CASE("no workload at all is an error") {
  CHECK(choose_workloads({{"a", "a.cpp"}}, {}).error().code == ErrorCode::invalid);
}

constexpr const char* kManifest = R"text({"schema": 1, "plain_sources": ["a/src"],
  "libtorch_sources": ["b"], "workloads": "w.txt", "workload_folder": "models",
  "include": ["a/include"], "precompiled_header": "a/torch.hpp", "table_file": "t.inc",
  "table_line": "W(@NAME@)", "compile": ["-O2"], "link": [], "executable": "runner"})text";

TEST_CASE("the manifest of the sources is read") {
  const test::TemporaryFolder folder;
  folder.write("runner/kit/manifest.json", kManifest);
  const auto manifest = read_kit_manifest(folder.path());
  REQUIRE(manifest.has_value());
  CHECK(manifest->plain_sources == Names{"a/src"});
  CHECK(manifest->table_line == "W(@NAME@)");
  CHECK(manifest->executable == "runner");
}

TEST_CASE("a manifest that could put something into a command line is refused by its member") {
  const auto [from, to, member] = GENERATE(
      table<std::string, std::string, std::string>({{"\"-O2\"", "\"-O2; reboot\"", "compile"},
                                                    {"\"runner\"", "\"../runner\"", "executable"},
                                                    {"\"a/include\"", "7", "include"},
                                                    {"[\"b\"]", "\"b\"", "libtorch_sources"},
                                                    {"W(@NAME@)", "W(NAME)", "table_line"}}));
  const test::TemporaryFolder folder;
  std::string text = kManifest;
  text.replace(text.find(from), from.size(), to);
  folder.write("runner/kit/manifest.json", text);
  const auto manifest = read_kit_manifest(folder.path());
  REQUIRE_FALSE(manifest.has_value());
  CHECK(manifest.error().code == ErrorCode::invalid);
  CHECK(manifest.error().message.find(member) != std::string::npos);
}

TEST_CASE("sources without a manifest and one of another schema are errors") {
  const test::TemporaryFolder folder;
  CHECK(read_kit_manifest(folder.path()).error().code == ErrorCode::not_found);
  folder.write("runner/kit/manifest.json", "{\"schema\": 2}");
  CHECK(read_kit_manifest(folder.path()).error().code == ErrorCode::invalid);
  folder.write("runner/kit/manifest.json", "nonsense");
  CHECK(read_kit_manifest(folder.path()).error().code == ErrorCode::invalid);
}

TEST_CASE("the compiler's rule for make gives the files it names") {
  CHECK(parse_dependencies("x.o: a.cpp tree/b.hpp \\\n /usr/c\\ d.h \\\n e$$f\\#.h\n") ==
        Names{"a.cpp", "tree/b.hpp", "/usr/c d.h", "e$f#.h"});
  CHECK(parse_dependencies("").empty());
  CHECK(parse_dependencies("x.o:").empty());
}

TEST_CASE("of a failed build the first lines that tell an error are shown") {
  CHECK(
      first_errors("FAILED: a.o\ng++ -c a.cpp\na.cpp:1:2: error: one\n  note\na.cpp:2: error: two\n"
                   "b: error: three\nb: error: four\n") ==
      "a.cpp:1:2: error: one\na.cpp:2: error: two\nb: error: three");
  CHECK(first_errors("nothing known\nlast words\n") == "last words");
  CHECK(first_errors("").empty());
}

TEST_CASE("tools see the user's settings and no secret") {
  setenv("TORCHWATCH_SOMETHING", "1", 1);
  setenv("TORCHWATCH_WEB_TOKEN", "1", 1);
  setenv("CCACHE_DIR", "/c", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "1", 1);
  setenv("TORCHWATCH_FAILPOINT", "", 1);
  const auto environment = tool_environment();
  CHECK(environment.contains("TORCHWATCH_SOMETHING"));
  CHECK(environment.contains("CCACHE_DIR"));
  CHECK(environment.contains("PATH"));
  CHECK_FALSE(environment.contains("TORCHWATCH_WEB_TOKEN"));
  CHECK_FALSE(environment.contains("AWS_SECRET_ACCESS_KEY"));
  CHECK_FALSE(environment.contains("TORCHWATCH_FAILPOINT"));
}

}  // namespace
}  // namespace torchwatch::builds
