#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::test {

inline constexpr const char* kQuiet = "noise 0.01";

/// Nightlies that come one after the other, each of a new commit, and a service that does what is
/// due after each.
class Nightlies {
 public:
  /// Publishes the first two nightlies with their behaviours.
  Nightlies(
      const std::string& first, const std::string& second,
      const std::function<void(config::Config&)>& change = [](auto&) {})
      : day_(folder_.path(), commits(first)) {
    day_.publish("2026-08-16", day_.commits()[0], first);
    day_.publish("2026-08-17", day_.commits()[1], second);
    auto config = day_.config();
    config.suite.workloads = {"dlrm"};
    // What the recipe makes of these commits does not show what the nightlies do.
    config.github.file_when = config::FileWhen::at_once;
    change(config);
    reopen(config);
    carry_out();
  }

  void reopen(const config::Config& config) {
    const auto copy = config;
    service_.reset();
    auto opened = ScriptedService::open(copy);
    if (!opened) FAIL(opened.error().message);
    service_ = std::move(*opened);
  }

  /// Publishes the next nightly and does everything that is due then.
  void next(const std::string& behaviour) {
    day_.publish(name(published_), day_.commits()[published_], behaviour);
    ++published_;
    carry_out();
  }

  /// Publishes the same libraries as before, in an environment that gives them that behaviour.
  void surround(std::size_t nightly, const std::string& behaviour) const {
    std::ofstream(folder_.path() / "nightlies" / name(nightly) / "behaviour") << behaviour << '\n';
  }

  comparison::Services& services() { return service_->services(); }
  storage::Database& database() { return services().database; }
  std::vector<storage::IncidentRow> incidents() {
    return storage::IncidentStore(database()).list(100).value();
  }
  std::vector<storage::ComparisonRow> comparisons(storage::Purpose purpose) {
    auto rows = storage::ComparisonStore(database()).list(100).value();
    std::erase_if(rows, [&](const storage::ComparisonRow& comparison) {
      return comparison.purpose != purpose;
    });
    return rows;
  }
  std::string build_name(storage::Id build) {
    return storage::BuildStore(database()).get(build).value().name;
  }

 private:
  static constexpr std::size_t kCommits = 10;

  static std::vector<ScriptedCommit> commits(const std::string& first) {
    std::vector<ScriptedCommit> commits{{"One", first}};
    while (commits.size() < kCommits) {
      commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
    }
    return commits;
  }
  static std::string name(std::size_t nightly) { return "2026-08-" + std::to_string(16 + nightly); }
  void carry_out() {
    const auto comparisons = service_->carry_out_due_comparisons();
    if (!comparisons) FAIL(comparisons.error().message);
    REQUIRE(storage::ComparisonStore(database()).unfinished().value().empty());
    REQUIRE(database().check_invariants().value().empty());
  }

  TemporaryFolder folder_;
  ScriptedDay day_;
  std::unique_ptr<ScriptedService> service_;
  std::size_t published_ = 2;
};

}  // namespace torchwatch::test
