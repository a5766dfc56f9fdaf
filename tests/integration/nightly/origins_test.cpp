// Searches in which some builds are somebody else's, made with other flags.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;
using bisection::BisectionOutcome;
using bisection::EventKind;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

const Series kSeries{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::time};
constexpr const char* kSlower = "time dlrm cpu-infer 1.5";

/// Commits of which somebody else has made some, and the search between the first and the last.
struct MixedSearch {
  MixedSearch(const std::vector<test::ScriptedCommit>& commits, std::set<std::size_t> elsewhere,
              std::string other_flags)
      : day(folder.path() / "day", commits),
        made_elsewhere(std::move(elsewhere)),
        flags(std::move(other_flags)) {
    std::map<std::string, std::string> sources;
    for (std::size_t i = 0; i < commits.size(); ++i) {
      sources[commits[i].file.empty() ? std::to_string(100 + i) : commits[i].file] =
          commits[i].behaviour;
      std::string text;
      for (const auto& [file, line] : sources) {
        if (line != "unbuildable") text += line + "\n";  // elsewhere it could be built
      }
      behaviours.push_back(text + flags);
    }
    auto config = day.config();
    config.suite.workloads = {"dlrm"};
    service = test::ScriptedService::open(config).value();
    service->services().commits = &make_builder(config);
  }

  builds::CommitBuilder& make_builder(const config::Config& config) {
    builds::CommitBuilder::Settings settings;
    settings.recipe = config.build.recipe;
    settings.folder = config.build.cache;
    settings.time_limit = config.build.timeout;
    settings.artifacts.bring = [this](const std::string& commit, const fs::path& tree,
                                      std::stop_token) { return bring(commit, tree); };
    return builder.emplace(
        settings, *processes,
        [repository = config.source.repository](const std::string& sha, const fs::path& to) {
          return bisect::check_out(repository, sha, to);
        });
  }

  Status bring(const std::string& commit, const fs::path& tree) {
    const auto& all = day.commits();
    const auto at = static_cast<std::size_t>(std::ranges::find(all, commit) - all.begin());
    if (!made_elsewhere.contains(at)) return fail(ErrorCode::not_found, "nobody made it");
    day.publish("elsewhere", commit, behaviours[at]);
    fs::copy(folder.path() / "day" / "nightlies" / "elsewhere", tree,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::ofstream(tree / "origin") << "https://builds.example/" << commit << "/torch.zip\n";
    return {};
  }

  bisection::BisectionResult search() {
    auto& services = service->services();
    const auto& all = day.commits();
    const auto spec = bisection::requested_spec(services, all.front(), all.back()).value();
    const auto opened = bisection::open_requested_bisection(services, spec, {kSeries}, {}).value();
    const auto ended = bisection::carry_out_bisection(services, opened, {});
    if (!ended) FAIL(ended.error().message);
    const auto events = storage::BisectionStore(services.database).events_of(opened.id).value();
    steps = bisection::trace_of(*ended, events).value();
    return bisection::parse_bisection_result(ended->result_json).value();
  }

  long set_aside() const {
    return std::ranges::count(steps, EventKind::set_aside, &report::TraceStep::kind);
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::set<std::size_t> made_elsewhere;
  std::string flags;  ///< what a build from elsewhere does besides
  std::vector<std::string> behaviours;
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("test of origins");
  std::unique_ptr<test::ScriptedService> service;
  std::optional<builds::CommitBuilder> builder;
  std::vector<report::TraceStep> steps;
};

/// Eight commits; the one of that number, if any, makes the workload half as slow again.
std::vector<test::ScriptedCommit> eight_commits(std::size_t culprit) {
  std::vector<test::ScriptedCommit> commits{{"0", "noise 0.01"}};
  for (std::size_t i = 1; i < 8; ++i) {
    const auto number = std::to_string(i);
    commits.push_back({number, i == culprit ? kSlower : "# " + number});
  }
  return commits;
}

constexpr std::size_t kNobody = 99;

}  // namespace

TEST_CASE("a step between builds of two makers, which no commit made, names nobody") {
  const auto elsewhere = GENERATE(
      std::set<std::size_t>{0}, std::set<std::size_t>{7}, std::set<std::size_t>{0, 1, 2, 3},
      std::set<std::size_t>{4, 5, 6, 7}, std::set<std::size_t>{0, 2, 4, 6});
  MixedSearch mixed(eight_commits(kNobody), elsewhere, kSlower);
  const auto result = mixed.search();
  CAPTURE(result.reason, elsewhere);
  CHECK(result.outcome == BisectionOutcome::did_not_reproduce);
  CHECK(result.culprits.empty());
  CHECK(result.suspects.empty());
  CHECK(mixed.set_aside() == 1);
}

TEST_CASE("a commit that slowed a workload is named, whoever made which builds") {
  const auto elsewhere = GENERATE(std::set<std::size_t>{0, 1, 2, 3}, std::set<std::size_t>{5},
                                  std::set<std::size_t>{4}, std::set<std::size_t>{1, 3, 5, 7},
                                  std::set<std::size_t>{0, 1, 2, 3, 5, 6, 7});
  const auto flags = GENERATE(as<std::string>{}, "", kSlower, "time dlrm cpu-infer 0.6");
  MixedSearch mixed(eight_commits(5), elsewhere, flags);
  const auto result = mixed.search();
  CAPTURE(result.reason, flags, elsewhere);
  CHECK(result.outcome == BisectionOutcome::found);
  CHECK(result.culprit() == mixed.day.commits()[5]);
}

TEST_CASE("builds of one maker are compared with each other, and nothing is built anew") {
  MixedSearch mixed(eight_commits(5), {0, 1, 2, 3, 4, 5, 6, 7}, kSlower);
  const auto result = mixed.search();
  CHECK(result.culprit() == mixed.day.commits()[5]);
  CHECK(mixed.set_aside() == 0);
  CHECK(result.made_elsewhere == result.builds);
  CHECK_THAT(result.culprits.at(0).verified, Contains(", both made elsewhere"));
  const auto built = std::ranges::count_if(mixed.steps, [](const auto& step) {
    return step.kind == EventKind::built &&
           step.reason.starts_with("made elsewhere (https://builds.example/");
  });
  CHECK(built == result.builds + 2);
}

TEST_CASE("a culprit's parent that only somebody else could build is not told from the culprit") {
  MixedSearch mixed({{"0", "noise 0.01"},
                     {"1", "# 1"},
                     {"2", "unbuildable", "header"},
                     {"3", kSlower, "header"},
                     {"4", "# 4"}},
                    {2}, "");
  const auto result = mixed.search();
  CHECK_FALSE(result.culprit());
  REQUIRE(result.culprits.size() == 1);
  const auto& all = mixed.day.commits();
  CHECK(result.culprits[0].commits == std::vector<std::string>{all[2], all[3]});
  CHECK(result.culprits[0].parent == all[1]);
  REQUIRE(result.skipped.size() == 1);
  CHECK(result.skipped[0].commit == all[2]);
}

TEST_CASE("an end that only somebody else could build ends the search, and nobody is named") {
  MixedSearch mixed({{"0", "unbuildable", "header"}, {"1", "# 1", "header"}, {"2", kSlower}}, {0},
                    "noise 0.01");
  const auto result = mixed.search();
  CHECK(result.outcome == BisectionOutcome::not_told_apart);
  CHECK(result.culprits.empty());
  CHECK_THAT(result.reason, Contains("only one of the two ends was made elsewhere") &&
                                Contains("the good end, commit " + mixed.day.commits()[0]));
}
