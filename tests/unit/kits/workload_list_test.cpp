#include "workload_list.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"

namespace torchwatch::kits {
namespace {

using Names = std::vector<std::string>;

/// A checkout that has just the list.
Result<Names> names_in(const std::string& text) {
  const test::TemporaryFolder folder;
  folder.write("models/workloads.txt", text);
  return read_workload_names(folder.path());
}

TEST_CASE("a list of workloads has a name and a file in each line that is not a comment") {
  const auto names =
      names_in("# name file\nresnet18 computer_vision/resnet.cpp\n\n  dlrm  r/dlrm.cpp\n");
  REQUIRE(names.has_value());
  CHECK(*names == Names{"resnet18", "dlrm"});
}

TEST_CASE("a line that names no workload is refused with its text") {
  const std::string line =
      GENERATE("a$(reboot) x.cpp", "a;b x.cpp", "../a x.cpp", "\"a\" x.cpp", "resnet18",
               "resnet18 a.cpp more", "resnet18 ../../x.cpp", "resnet18 \"x\".cpp");
  const auto names = names_in(line + "\n");
  REQUIRE_FALSE(names.has_value());
  CHECK(names.error().code == ErrorCode::invalid);
  CHECK(names.error().message.find(line) != std::string::npos);
}

TEST_CASE("sources without a list of workloads are an error") {
  const test::TemporaryFolder folder;
  CHECK(read_workload_names(folder.path()).error().code == ErrorCode::not_found);
}

TEST_CASE("workloads are chosen once each, in the list's order") {
  const auto chosen = choose_workloads({"a", "b", "c"}, {"c", "a", "c"});
  REQUIRE(chosen.has_value());
  CHECK(*chosen == Names{"a", "c"});
}

TEST_CASE("an unknown workload is named with those near to it") {
  const Names list{"resnet18", "hf_DistilBert", "dlrm"};
  const auto error = [&](const std::string& name) {
    const auto chosen = choose_workloads(list, {"dlrm", name});
    REQUIRE_FALSE(chosen.has_value());
    CHECK(chosen.error().code == ErrorCode::invalid);
    CHECK(chosen.error().message.find('"' + name + '"') != std::string::npos);
    return chosen.error().text();
  };
  CHECK(error("resnet").find("resnet18") != std::string::npos);
  CHECK(error("distilbert").find("hf_DistilBert") != std::string::npos);
  CHECK(error("resent18").find("resnet18") != std::string::npos);
  CHECK(error("nothing_like").find("torchwatch workload list") != std::string::npos);
}

TEST_CASE("no workload at all is an error") {
  CHECK(choose_workloads({"a"}, {}).error().code == ErrorCode::invalid);
}

}  // namespace
}  // namespace torchwatch::kits
