#include "torchwatch/requests/check.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "elf_maker.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/requests/due.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using requests::Asking;
using storage::RequestKind;

namespace {

/// A site with two nightlies, a repository of two commits, and no GPU.
struct Site {
  Site() {
    test::write_tree(folder.path() / "nightlies/2026-06-16");
    test::write_tree(folder.path() / "nightlies/2026-06-17");
    config.channel.path = folder.path() / "nightlies";
    config.source.repository = repository.path();
    config.build.recipe = "/bin/true";
  }

  std::string refusal(RequestKind kind, const json& body,
                      Asking asking = Asking::from_this_machine) const {
    const auto checked = requests::check(ground, kind, body, asking);
    if (checked) return "";
    CHECK(checked.error().code == ErrorCode::invalid);
    return checked.error().text();
  }
  std::string comparison(const std::string& baseline, const std::string& candidate,
                         Asking asking = Asking::from_this_machine) const {
    return refusal(RequestKind::nightly, {{"baseline", baseline}, {"candidate", candidate}},
                   asking);
  }
  std::string bisection(const json& body, Asking asking = Asking::from_this_machine) const {
    return refusal(RequestKind::bisection, body, asking);
  }

  test::TemporaryFolder folder;
  test::TestRepository repository{folder.path() / "pytorch"};
  std::string first = repository.commit("first");
  std::string second = repository.commit("second");
  config::Config config;
  requests::Ground ground{.config = config, .workloads = {"resnet18", "tts_angular"}};
};

}  // namespace

TEST_CASE("a commit's name of any bytes is refused like any other that is unknown") {
  const Site site;
  CHECK_THAT(site.bisection({{"good", "\xff"}, {"bad", site.second}}), Contains("commit"));
}

TEST_CASE("a release has digits before and behind each dot") {
  CHECK(requests::is_release("2.13.0"));
  for (const auto* text : {"", ".", "..", "...", "2", "2.", ".13", "2..13"}) {
    INFO(text);
    CHECK_FALSE(requests::is_release(text));
  }
}

TEST_CASE("a bisection of an external workload in a mode that it has not is refused at once") {
  Site site;
  site.config.suite.externals = {{.name = "resnet18",
                                  .command = {"/bin/true"},
                                  .metrics = {Metric::time},
                                  .modes = {Mode::infer}}};
  CHECK_THAT(site.bisection({{"good", site.first},
                             {"bad", site.second},
                             {"workloads", {"resnet18"}},
                             {"mode", "train"}}),
             Contains("is not measured in cpu-train"));
}

TEST_CASE("builds of the channel, folders, releases and commits may be compared") {
  const Site site;
  test::write_tree(site.folder.path() / "mine");
  CHECK(site.comparison("2026-06-16", "2026-06-17") == "");
  CHECK(site.comparison("2.12.1", "2.13.0") == "");  // fetched later
  CHECK(site.comparison(site.first, site.second) == "");
  CHECK(site.comparison("2026-06-16", site.folder.path() / "mine") == "");
}

TEST_CASE("a build may be asked for by whoever may have it compared") {
  const Site site;
  const auto fetch = [&](const std::string& name, Asking asking) {
    return site.refusal(RequestKind::fetch, {{"name", name}}, asking);
  };
  for (const auto asking : {Asking::from_this_machine, Asking::from_elsewhere}) {
    CHECK(fetch("2026-06-16", asking) == "");
    CHECK(fetch("2.13.0", asking) == "");
    CHECK_THAT(fetch("2026-06-71", asking), Contains("did you mean 2026-06-16"));
  }
  CHECK(fetch(site.first, Asking::from_this_machine) == "");
  CHECK_THAT(fetch(site.first, Asking::from_elsewhere), Contains("unknown build"));
}

TEST_CASE("a build that does not exist is refused with what is allowed and what was meant") {
  const Site site;
  const auto typo = site.comparison("2026-06-16", "2026-06-71");
  CHECK_THAT(typo, Contains("unknown build \"2026-06-71\": no folder, no build of the channel, no "
                            "release such as 2.13.0 and no commit of [source]") &&
                       Contains("did you mean 2026-06-16 or 2026-06-17?"));
  CHECK_THAT(site.comparison("a", "b"), Contains("unknown build \"a\""));
  CHECK_THAT(site.comparison("2026-06-16", "/nonexistent"), Contains("unknown build"));
  CHECK_THAT(site.comparison("2026-06-16", site.folder.path()), Contains("is not a LibTorch tree"));
}

TEST_CASE("who is not on this machine names neither folders nor commits that could be built") {
  const Site site;
  const auto elsewhere = Asking::from_elsewhere;
  CHECK(site.comparison("2026-06-16", "2.13.0", elsewhere) == "");
  for (const auto& name : {(site.folder.path() / "nightlies/2026-06-17").string(), site.first,
                           std::string("../../../etc"), std::string("nobody<script>")}) {
    CHECK_THAT(site.comparison("2026-06-16", name, elsewhere),
               Contains("must be a build of the channel or a release such as 2.13.0"));
  }
}

TEST_CASE("a nightly of an index is asked for when the request's turn comes") {
  Site site;
  const auto elsewhere = Asking::from_elsewhere;
  const std::string nightly = "2.15.0.dev20260816+cpu";
  CHECK_THAT(site.comparison(nightly, "2.13.0", elsewhere), Contains("unknown build"));
  site.config.channel.kind = config::ChannelKind::wheel_index;
  CHECK(site.comparison(nightly, "2.15.0.dev20260817", elsewhere) == "");
  for (const auto* text : {"2.15.0.dev", "2.15.0.dev+cpu", "2.15.0.devil", ".dev20260816", "dev",
                           "2.15.0.dev20260816+cpu/../x", "2.15.0.dev20260816 --help"}) {
    CHECK_THAT(site.comparison(text, "2.13.0", elsewhere), Contains("unknown build"));
  }
}

TEST_CASE("a build that is known is found in the database, which a typo does not need") {
  Site site;
  auto database = storage::Database::open({site.folder.path() / "t.sqlite", "", false}).value();
  storage::BuildStore builds(*database);
  auto row = builds.discover(storage::BuildOrigin::folder, "an earlier one").value();
  row.version = "1";
  row.content_hash = "h";
  row.folder = site.folder.path() / "nightlies/2026-06-16";
  REQUIRE(builds.mark_ready(row));
  CHECK_THAT(site.comparison("2026-06-16", "an earlier one"), Contains("unknown build"));
  site.ground.database = database.get();
  CHECK(site.comparison("2026-06-16", "an earlier one") == "");
  row.folder = site.folder.path() / "nightlies/gone";
  REQUIRE(builds.mark_ready(row));
  CHECK_THAT(site.comparison("2026-06-16", "an earlier one"),
             Contains("the files of build \"an earlier one\" are gone") && Contains(row.folder) &&
                 !Contains("unknown"));
}

TEST_CASE("commits of a bisection are revisions of the repository or names of nightlies") {
  const Site site;
  CHECK(site.bisection({{"good", site.first}, {"bad", site.second}}) == "");
  CHECK(site.bisection({{"good", "2026-06-16"}, {"bad", "2026-06-17"}}) == "");
  CHECK_THAT(site.bisection({{"good", "deadbeef"}, {"bad", site.second}}),
             Contains("unknown commit \"deadbeef\"") && !Contains("libgit2"));
  CHECK(site.bisection({{"suspect", site.first.substr(0, 3)}}) ==
        "unknown commit \"" + site.first.substr(0, 3) + "\": name 4 hex digits or more");
  CHECK_THAT(site.bisection({{"suspect", "xyz"}}), !Contains("hex digits"));
  CHECK_THAT(site.bisection({{"suspect", "2026-06-71"}}),
             Contains("did you mean 2026-06-16 or 2026-06-17?"));
  CHECK_THAT(site.bisection({{"good", site.second}, {"bad", site.first}}),
             Contains("swap the two"));
  CHECK_THAT(site.bisection({{"good", site.first}, {"bad", site.first}}), Contains("the same"));
}

TEST_CASE("a commit that the clone of an address lacks may have been pushed since") {
  Site site;
  std::filesystem::rename(site.repository.path(), site.folder.path() / "source.git");
  site.config.source.repository = "https://git.example/pytorch";
  site.config.storage.path = site.folder.path() / "torchwatch.sqlite";
  CHECK(site.bisection({{"suspect", "deadbeef"}}, Asking::from_elsewhere) == "");
  CHECK(site.comparison("2026-06-16", "deadbeef") == "");
  CHECK_THAT(site.bisection({{"suspect", "mian"}}), Contains("unknown commit \"mian\""));
  CHECK_THAT(site.comparison("2026-06-16", "2026-06-71"), Contains("did you mean"));
}

TEST_CASE("who is not on this machine has commits of the branch built, and no others") {
  Site site;
  const auto beside = site.repository.commit({.subject = "beside",
                                              .files = {{"a", "b"}},
                                              .parents = {site.first},
                                              .author_time = {},
                                              .branch = "other"});
  CHECK(site.bisection({{"suspect", site.second}}, Asking::from_elsewhere) == "");
  CHECK(site.bisection({{"suspect", beside}}) == "");
  CHECK_THAT(site.bisection({{"suspect", beside}}, Asking::from_elsewhere),
             Contains("is not on branch main"));
}

TEST_CASE("a bisection needs a repository and a recipe") {
  Site site;
  site.config.build.recipe.clear();
  CHECK_THAT(site.bisection({{"suspect", site.second}}), Contains("set [build] recipe"));
  site.config.source.repository.clear();
  CHECK_THAT(site.bisection({{"suspect", site.second}}), Contains("set [source] repository"));
}

TEST_CASE("a workload that is mistyped is refused with the name that was meant") {
  const Site site;
  for (const auto kind : {RequestKind::nightly, RequestKind::bisection}) {
    CHECK_THAT(site.refusal(kind, {{"suspect", site.second}, {"workloads", {"tts_anglar"}}}),
               Contains("there is no workload \"tts_anglar\"; did you mean tts_angular"));
  }
  CHECK(site.refusal(RequestKind::nightly, {{"workloads", {"resnet18"}}}) == "");
}

TEST_CASE("what this machine cannot measure is refused") {
  Site site;
  const json cuda{{"configurations", {"cuda-train"}}};
  const json device_time{{"metrics", {"device_time"}}};
  const json cuda_alone{{"configurations", {"cpu-train"}}, {"metrics", {"device_time"}}};
  CHECK_THAT(site.refusal(RequestKind::nightly, cuda), Contains("this machine has no GPU"));
  CHECK_THAT(site.refusal(RequestKind::nightly, device_time), Contains("this machine has no GPU"));
  site.ground.has_gpu = true;
  CHECK(site.refusal(RequestKind::nightly, cuda) == "");
  CHECK(site.refusal(RequestKind::nightly, device_time) == "");
  CHECK_THAT(site.refusal(RequestKind::nightly, cuda_alone), Contains("measured on cuda only"));
}

TEST_CASE("what would measure nothing is refused") {
  Site site;
  site.config.suite.externals = {{.name = "mine",
                                  .command = {"/bin/true"},
                                  .metrics = {Metric::time},
                                  .modes = {Mode::infer}}};
  site.ground.workloads.emplace_back("mine");
  const auto refusal = [&](const char* configuration, const char* metric) {
    return site.refusal(
        RequestKind::nightly,
        {{"workloads", {"mine"}}, {"configurations", {configuration}}, {"metrics", {metric}}});
  };
  CHECK(refusal("cpu-infer", "time") == "");
  CHECK_THAT(refusal("cpu-train", "time"), Contains("no workload is measured in the"));
  CHECK_THAT(refusal("cpu-infer", "cpu_peak"),
             Contains("no workload that is measured states cpu_peak"));
}

TEST_CASE("a GPU is seen by what the kernel shows of its driver") {
  const test::TemporaryFolder root;
  CHECK_FALSE(requests::has_gpu(root.path()));
  root.write("proc/driver/nvidia/version", "NVRM version: 550");
  CHECK(requests::has_gpu(root.path()));
}

TEST_CASE("a nightly is due until it has its comparison, or is known to be damaged") {
  const Site site;
  const auto database =
      storage::Database::open({site.folder.path() / "t.sqlite", "", false}).value();
  storage::BuildStore builds(*database);
  storage::ComparisonStore comparisons(*database);
  const auto is_due = [&] { return requests::is_anything_due(site.config, *database).value(); };
  CHECK(is_due());
  for (const auto* name : {"2026-06-16", "2026-06-17"}) {
    auto row = builds.discover(storage::BuildOrigin::nightly, name).value();
    CHECK(is_due());
    row.version = "1";
    row.content_hash = name;
    row.folder = site.config.channel.path / name;
    row = builds.mark_ready(row).value();
    CHECK(is_due());
    const auto opened =
        comparisons.open({.purpose = storage::Purpose::nightly, .candidate = row.id}, 1).value();
    CHECK(is_due());
    REQUIRE(comparisons.advance(opened, storage::ComparisonState::accepted, 1));
  }
  CHECK_FALSE(is_due());

  const auto damaged = site.config.channel.path / "2026-06-18";
  site.folder.write("nightlies/2026-06-18/build-hash", std::string(40, '0'));
  CHECK(is_due());
  const auto row = builds.discover(storage::BuildOrigin::nightly, "2026-06-18").value();
  REQUIRE(builds.reject(row.id, "it has no lib"));
  CHECK_FALSE(is_due());
  std::filesystem::remove_all(damaged);
  test::write_tree(damaged);
  CHECK(is_due());
}

TEST_CASE("an operator is asked for by its time on a CPU alone") {
  const Site site;
  const auto asked = [&](json more) {
    more["variants"] = {"operator=aten::gelu"};
    more["workloads"] = {"resnet18"};
    more["suspect"] = site.second;
    return site.bisection(more);
  };
  CHECK(asked({}) == "");
  CHECK(asked({{"metrics", {"time"}}}) == "");
  CHECK_THAT(asked({{"metrics", {"cpu_peak"}}}), Contains("an operator has no cpu_peak"));
}
