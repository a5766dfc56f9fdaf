#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "faulty_vfs.hpp"
#include "forked_child.hpp"
#include "toy_comparison.hpp"

// Injects every fault at every operation of a small comparison. Another process then finishes the
// comparison, which must look as if nothing had happened. The default run samples the operations;
// TORCHWATCH_ALL_FAULTS=1 takes them all.

using namespace torchwatch;
using namespace torchwatch::storage;
using test::Fault;
using test::FaultPlan;
using test::ForkedChild;
using test::Survivors;

namespace {

constexpr int kSampledPoints = 40;
constexpr int kStorageStopped = 3;  ///< exit status of a child that met an error and gave up
constexpr int kTriesAfterErrors = 3;

bool all_faults() {
  return std::getenv("TORCHWATCH_ALL_FAULTS") != nullptr;
}

struct ComparisonFiles {
  test::MemoryFolder folder;
  std::filesystem::path database = folder.path() / "t.sqlite";
  std::filesystem::path tracker = folder.path() / "tracker";
};

/// Reports each acknowledged step as one byte, from 1 on.
Status play_once(const ComparisonFiles& files, const std::string& vfs, int report) {
  TW_TRY(auto database, Database::open({files.database, vfs, false}));
  Stores stores(std::move(database));
  return ToyComparison(stores, files.tracker).play([&](int step) {
    const char byte = static_cast<char>(step);
    if (::write(report, &byte, 1) != 1) std::abort();
  });
}

/// Does everything again from the stored state, as the daemon does after a storage error.
int play_with_faults(const ComparisonFiles& files, const FaultPlan& plan, int report) {
  const auto vfs = test::register_faulty_vfs(plan);
  for (int tries = 0; tries < kTriesAfterErrors; ++tries) {
    const auto played = play_once(files, vfs, report);
    if (played) return 0;
    if (played.error().code != ErrorCode::unavailable) {
      std::fprintf(stderr, "%s: %s\n", to_string(plan).c_str(), played.error().message.c_str());
      return 1;
    }
  }
  return kStorageStopped;
}

struct Uncut {
  std::int64_t operations = 0;
  std::string dump;
};

std::string finish_and_dump(const ComparisonFiles& files) {
  Stores stores(files.database);
  ToyComparison toy(stores, files.tracker);
  REQUIRE(toy.play([](int) {}));
  const auto breaches = stores.database->check_invariants().value();
  for (const auto& breach : breaches) FAIL(breach.invariant << ": " << breach.rows);
  return toy.dump();
}

Uncut play_uncut() {
  const ComparisonFiles files;
  ForkedChild child([&](int report) {
    const auto vfs = test::register_faulty_vfs({});
    if (!play_once(files, vfs, report)) return 1;
    const auto operations = std::to_string(test::operations_of(vfs));
    return ::write(report, operations.data(), operations.size()) > 0 ? 0 : 1;
  });
  std::string report;
  REQUIRE(child.wait(&report).exit_status == 0);
  const auto operations = report.substr(static_cast<std::size_t>(ToyComparison::steps()));
  return {std::stoll(operations), finish_and_dump(files)};
}

/// Checks a comparison after the fault: the acknowledged steps are stored, the rest can be done.
void require_recovery(const ComparisonFiles& files, const std::string& report, const Uncut& uncut) {
  const int acknowledged = report.empty() ? 0 : report.back();
  if (acknowledged > 0) {
    Stores stores(files.database);
    REQUIRE(ToyComparison(stores, files.tracker).steps_done().value() >= acknowledged);
  }
  REQUIRE(finish_and_dump(files) == uncut.dump);
}

void require_end(Fault fault, const test::ChildEnd& end, bool all_acknowledged) {
  switch (fault) {
    case Fault::none:
    case Fault::disk_full_once:
    case Fault::io_error:
      REQUIRE(end.exit_status == 0);
      break;
    case Fault::disk_full:
      // Closing only tidies up, so a disk that is full only then does no harm.
      REQUIRE(end.exit_status == (all_acknowledged ? 0 : kStorageStopped));
      break;
    case Fault::kill:
    case Fault::torn_write:
    case Fault::power_cut:
      REQUIRE(end.signal == SIGKILL);
      break;
  }
}

void require_survival(const FaultPlan& plan, const Uncut& uncut) {
  CAPTURE(to_string(plan));
  const ComparisonFiles files;
  ForkedChild child([&](int report) { return play_with_faults(files, plan, report); });
  std::string report;
  const auto end = child.wait(&report);
  require_end(plan.fault, end, !report.empty() && report.back() == ToyComparison::steps());
  require_recovery(files, report, uncut);
}

/// Tries the plan at every operation, or at a sample of them that differs from seed to seed.
void require_survival_everywhere(FaultPlan plan) {
  const auto uncut = play_uncut();
  REQUIRE(uncut.operations > 200);
  const auto stride =
      all_faults() ? 1 : std::max<std::int64_t>(1, uncut.operations / kSampledPoints);
  const auto first = 1 + static_cast<std::int64_t>(plan.fault) * 5 % stride;
  for (plan.at = first; plan.at <= uncut.operations; plan.at += stride) {
    ++plan.seed;
    require_survival(plan, uncut);
  }
}

}  // namespace

TEST_CASE("a comparison killed before any operation ends as if it had not been") {
  require_survival_everywhere({Fault::kill, 0});
}

TEST_CASE("a comparison killed in the middle of any write ends as if it had not been") {
  require_survival_everywhere({Fault::torn_write, 0});
}

TEST_CASE("a comparison continues by itself after a disk was full once") {
  require_survival_everywhere({Fault::disk_full_once, 0});
}

TEST_CASE("a comparison stops at a full disk and continues when there is space") {
  require_survival_everywhere({Fault::disk_full, 0});
}

TEST_CASE("a comparison continues by itself after a failed operation") {
  require_survival_everywhere({Fault::io_error, 0});
}

TEST_CASE("a power cut that loses all that was not synced loses nothing acknowledged") {
  require_survival_everywhere({Fault::power_cut, 0, Survivors::none});
}

TEST_CASE("a power cut that keeps all that was not synced loses nothing acknowledged") {
  require_survival_everywhere({Fault::power_cut, 0, Survivors::all});
}

TEST_CASE("a power cut that keeps any sectors of what was not synced loses nothing acknowledged") {
  const int seeds = all_faults() ? 5 : 2;
  for (int seed = 0; seed < seeds; ++seed) {
    require_survival_everywhere(
        {Fault::power_cut, 0, Survivors::some, static_cast<std::uint64_t>(seed) * 1'000'000});
  }
}
