#include "torchwatch/runs/machine_conditions.hpp"

#include <algorithm>

#include "conditions.hpp"
#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

constexpr int kNewest = 1'000;
constexpr double kThousandth = 1e-3;
constexpr double kNano = 1e-9;
constexpr double kTick = 1e-2;  // of /proc/stat, on every processor of today

/// What one run states; the newest is the first of many.
struct Stated {
  std::optional<std::int64_t> temperature = {};
  std::optional<std::int64_t> load = {};
  std::optional<std::int64_t> arithmetic = {};
  std::optional<std::int64_t> copy = {};
  std::int64_t wall_ns = 0;
  std::int64_t stolen_ticks = 0;
  std::int64_t processors = 1;
};

Stated stated_in(Query& row) {
  return {.temperature = row.take<std::optional<std::int64_t>>(),
          .load = row.take<std::optional<std::int64_t>>(),
          .arithmetic = row.take<std::optional<std::int64_t>>(),
          .copy = row.take<std::optional<std::int64_t>>(),
          .wall_ns = row.take<std::int64_t>(),
          .stolen_ticks = row.take<std::int64_t>(),
          .processors = row.take<std::int64_t>()};
}

/// The runs walked backwards from the machine's last one to its first: most between are its own.
std::string runs_of_machine() {
  const auto fact = [](const std::string& name) {
    return "(SELECT value FROM covariate WHERE attempt_id = result.attempt_id AND name = '" + name +
           "')";
  };
  return "SELECT " + fact("temperature_milli") + ", " + fact("load1_milli") + ", " +
         fact("calibration_arithmetic_ns") + ", " + fact("calibration_copy_ns") + ", ifnull(" +
         fact("wall_ns") + ", 0), ifnull(" + fact("steal_ticks") +
         ", 0), max(1, ifnull((SELECT CAST(value AS INTEGER) FROM environment_fact WHERE "
         "environment_fact.environment_id = environment.id AND name = 'cpus'), 1)) "
         "FROM result JOIN environment ON environment.id = environment_id "
         "WHERE machine_id = ?1 AND result.attempt_id BETWEEN "
         "(SELECT first_attempt_id FROM machine WHERE id = ?1) AND "
         "(SELECT last_attempt_id FROM machine WHERE id = ?1) "
         "ORDER BY result.attempt_id DESC LIMIT ?2";
}

/// Returns what the runs state of one thing; nothing where none does.
std::optional<Spread> spread_of(const std::vector<Stated>& all,
                                std::optional<std::int64_t> Stated::* thing) {
  std::vector<std::int64_t> values;
  for (const auto& one : all) {
    if (one.*thing) values.push_back(*(one.*thing));
  }
  if (values.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(values);
  Spread spread{.least = least, .most = most, .newest = values.front()};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  spread.median = *middle;
  return spread;
}

MachineConditions summary_of(const std::vector<Stated>& all) {
  MachineConditions conditions{.runs = static_cast<int>(all.size()),
                               .temperatures = spread_of(all, &Stated::temperature),
                               .arithmetic = spread_of(all, &Stated::arithmetic),
                               .copy = spread_of(all, &Stated::copy)};
  double seconds = 0;
  double stolen = 0;
  for (const auto& one : all) {
    seconds += kNano * static_cast<double>(one.wall_ns * one.processors);
    stolen += kTick * static_cast<double>(one.stolen_ticks);
  }
  if (const auto load = spread_of(all, &Stated::load)) {
    conditions.load_least = kThousandth * static_cast<double>(load->least);
    conditions.load_median = kThousandth * static_cast<double>(load->median);
    conditions.load_most = kThousandth * static_cast<double>(load->most);
  }
  if (seconds > 0) conditions.stolen_share = stolen / seconds;
  return conditions;
}

SelfTestTally tally_of(Query& row) {
  return {.metric = row.take<Metric>(),
          .series = row.take<int>(),
          .inconclusive = row.take<int>(),
          .regressed = row.take<int>(),
          .improved = row.take<int>()};
}

}  // namespace

Result<MachineConditions> conditions_of(Database& database, Id machine) {
  TW_TRY(const auto stated, read(database, [&](Connection& connection) {
           return all_rows(Query(connection, runs_of_machine(), machine, kNewest), stated_in);
         }));
  return summary_of(stated);
}

Result<std::vector<SelfTestTally>> self_tests_on(Database& database, Id machine) {
  return read(database, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT metric, count(*), sum(verdict = 'inconclusive'), "
                          "sum(verdict = 'regressed'), sum(verdict = 'improved') "
                          "FROM comparison JOIN verdict ON comparison_id = comparison.id "
                          "WHERE purpose = 'self_test' AND " +
                              judged_on_machine("?") + " GROUP BY metric ORDER BY metric",
                          machine),
                    tally_of);
  });
}

}  // namespace torchwatch::storage
