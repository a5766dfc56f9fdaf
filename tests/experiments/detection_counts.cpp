#include "detection_counts.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace torchwatch::experiments {
namespace {

constexpr long kComparisonsOfOneStream = 2'000;

Table empty_table(std::size_t rules, std::size_t workloads) {
  return Table(rules, std::vector<Counts>(workloads));
}

void add(const Table& from, Table& to) {
  for (std::size_t rule = 0; rule < to.size(); ++rule) {
    for (std::size_t workload = 0; workload < to[rule].size(); ++workload) {
      to[rule][workload] += from[rule][workload];
    }
  }
}

void count(const PrintedInterval& interval, Counts& counts) {
  ++(interval.is_confirmed ? counts.confirmed : counts.screened);
  if (interval.holds) ++(interval.is_confirmed ? counts.confirmed_hold : counts.screened_hold);
}

void count(const Judgement& judgement, Counts& counts) {
  ++counts.judged;
  counts.slower += judgement.flag == Flag::slower ? 1 : 0;
  counts.faster += judgement.flag == Flag::faster ? 1 : 0;
  counts.undecided += judgement.flag == Flag::undecided ? 1 : 0;
  counts.runs += judgement.runs;
  if (judgement.interval) count(*judgement.interval, counts);
}

void count_slower_from(std::size_t after, long reports, Counts& counts) {
  for (std::size_t i = 0; i < kReportedBy.size(); ++i) {
    if (after <= kReportedBy[i]) counts.slower_by[i] += reports;
  }
}

/// Asks a rule that looks again, comparison by comparison, until it reports the change.
void look_again(const Rule& rule, const SeriesComparison& comparison, Random& random,
                Counts& counts) {
  for (std::size_t after = rule.first_after + 1; after <= kComparisonsAfter; ++after) {
    if (rule.judge(comparison, after, random).front().flag != Flag::slower) continue;
    count_slower_from(after, 1, counts);
    return;
  }
}

void judge(const Rule& rule, const SeriesComparison& comparison, Random& random, Counts& counts) {
  long reports = 0;
  for (const auto& judgement : rule.judge(comparison, rule.first_after, random)) {
    count(judgement, counts);
    reports += judgement.flag == Flag::slower ? 1 : 0;
  }
  count_slower_from(rule.first_after, reports, counts);
  const bool has_missed = comparison.slowdown > 1 && reports == 0;
  if (has_missed && rule.looks_again) look_again(rule, comparison, random, counts);
}

Random random_of(Seed seed, long chunk) {
  std::seed_seq sequence{static_cast<std::uint32_t>(seed.seed),
                         static_cast<std::uint32_t>(seed.seed >> 32), seed.row,
                         static_cast<std::uint32_t>(chunk)};
  return Random(sequence);
}

/// The comparisons that share one stream of random numbers.
Table judge_chunk(const std::vector<Rule>& rules, const Sampling& sampling, Seed seed, long chunk) {
  Random random = random_of(seed, chunk);
  Table table = empty_table(rules.size(), sampling.workloads);
  const long begin = chunk * kComparisonsOfOneStream;
  const long end = std::min(sampling.comparisons, begin + kComparisonsOfOneStream);
  for (long number = begin; number < end; ++number) {
    const auto comparison = sampling.comparison(number, random);
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      judge(rules[rule], comparison, random, table[rule][comparison.series->place]);
    }
  }
  return table;
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  judged += other.judged;
  slower += other.slower;
  faster += other.faster;
  undecided += other.undecided;
  for (std::size_t i = 0; i < slower_by.size(); ++i) slower_by[i] += other.slower_by[i];
  runs += other.runs;
  screened += other.screened;
  screened_hold += other.screened_hold;
  confirmed += other.confirmed;
  confirmed_hold += other.confirmed_hold;
  return *this;
}

Counts together(const std::vector<Counts>& by_workload) {
  Counts sum;
  for (const auto& counts : by_workload) sum += counts;
  return sum;
}

Table judge_all(const std::vector<Rule>& rules, const Sampling& sampling, Seed seed,
                unsigned threads) {
  const long chunks =
      (sampling.comparisons + kComparisonsOfOneStream - 1) / kComparisonsOfOneStream;
  std::vector<Table> tables(static_cast<std::size_t>(chunks));
  std::atomic<long> next{0};
  const auto work = [&] {
    for (long chunk = next++; chunk < chunks; chunk = next++) {
      tables[static_cast<std::size_t>(chunk)] = judge_chunk(rules, sampling, seed, chunk);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, threads); ++i) workers.emplace_back(work);
  for (auto& worker : workers) worker.join();
  Table sum = empty_table(rules.size(), sampling.workloads);
  for (const auto& table : tables) add(table, sum);
  return sum;
}

}  // namespace torchwatch::experiments
