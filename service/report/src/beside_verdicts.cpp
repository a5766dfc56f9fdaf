#include "torchwatch/report/beside_verdicts.hpp"

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::report {
namespace {

using storage::ComparisonRow;
using storage::EvidenceReader;
using storage::Purpose;

Result<std::optional<double>> seconds_of(EvidenceReader& reader, const ComparisonRow& row) {
  constexpr double kMillisPerSecond = 1000;
  if (row.ended_at == 0) return std::nullopt;
  TW_TRY(const auto began_at, reader.first_run_at(row.id));
  if (!began_at || *began_at > row.ended_at) return std::nullopt;
  return static_cast<double>(row.ended_at - *began_at) / kMillisPerSecond;
}

Result<std::optional<int>> lost_in(EvidenceReader& reader, const ComparisonRow& row) {
  constexpr std::size_t kBoth = 2;
  if (row.purpose != Purpose::nightly) return std::nullopt;
  TW_TRY(const auto judged, reader.judged_nightlies(row.id, kBoth));
  if (judged.size() < kBoth || judged.back() != row.id) return std::nullopt;
  TW_TRY(const int lost, reader.benchmarks_lost(judged.front(), row.id));
  return lost;
}

}  // namespace

Result<BesideVerdicts> beside_verdicts_of(storage::Database& database, const ComparisonRow& row) {
  EvidenceReader reader(database);
  BesideVerdicts beside;
  TW_TRY(beside.seconds, seconds_of(reader, row));
  TW_TRY(beside.benchmarks_lost, lost_in(reader, row));
  if (row.purpose == Purpose::self_test) return beside;
  TW_TRY(beside.self_test, reader.self_test_near(row.id, row.candidate));
  return beside;
}

int false_alarms_of(const storage::SelfTestTally& tally) {
  return tally.regressed + tally.improved;
}

std::string false_alarms_text(const storage::SelfTestTally& tally) {
  return figures::grouped(false_alarms_of(tally)) + " of " + figures::grouped(tally.series);
}

}  // namespace torchwatch::report
