#include "detection_report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "torchwatch/detect/binomial_interval.hpp"

namespace torchwatch::experiments {
namespace {

using detect::Share;
using detect::share_of;
using nlohmann::json;

constexpr double kComparisonsOfYear = 365;

/// "0.41 (0.21-0.72)": per cent with the exact 95 % interval.
std::string in_percent(const Share& share) {
  if (share.of == 0) return "-";
  char text[100];
  std::snprintf(text, sizeof text, "%.4g (%.3g-%.3g)", 100 * share.rate, 100 * share.low,
                100 * share.high);
  return text;
}

/// Reports of a slowdown in its own comparison; without a change there is no such comparison, and
/// every report counts as soon as the rule can make it.
long slower(const Counts& counts, double change) {
  return change == 0 ? counts.slower : counts.slower_by.front();
}

/// The workload on which a rule does worst: finds least, or raises most alarms.
std::size_t worst(const std::vector<Counts>& by_workload, double change) {
  const auto badness = [&](const Counts& counts) {
    const long hits = change < 0 ? counts.faster : slower(counts, change);
    const double rate = static_cast<double>(hits) / static_cast<double>(counts.judged);
    return change == 0 ? rate : -rate;
  };
  const auto found = std::ranges::max_element(by_workload, {}, badness);
  return static_cast<std::size_t>(found - by_workload.begin());
}

std::vector<const Row*> rows_of(const DetectionReport& report, const std::string& sampling) {
  std::vector<const Row*> rows;
  for (const auto& row : report.rows) {
    if (row.sampling == sampling) rows.push_back(&row);
  }
  return rows;
}

void print_head(const std::vector<std::string>& columns) {
  std::string names = "\n|";
  std::string line = "|";
  for (const auto& column : columns) {
    names += column + "|";
    line += "-|";
  }
  std::printf("%s\n%s\n", names.c_str(), line.c_str());
}

std::string signed_percent(double change) {
  char text[40];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * change);
  return text;
}

/// One rule's line: how often it had reported the change by some comparison, for each change.
void print_reports(const std::string& name, const std::vector<const Row*>& rows, std::size_t rule,
                   std::size_t by) {
  std::printf("|%s|", name.c_str());
  for (const Row* row : rows) {
    const auto counts = together(row->table[rule]);
    const long hits = row->change == 0 ? counts.slower : counts.slower_by[by];
    std::printf("%s|", in_percent(share_of(hits, counts.judged)).c_str());
  }
  std::printf("\n");
}

void print_power(const DetectionReport& report, const std::string& sampling) {
  std::vector<const Row*> rows = rows_of(report, sampling);
  std::erase_if(rows, [](const Row* row) { return row->change < 0; });
  std::vector<std::string> columns{sampling + ", reported as slower, %"};
  for (const Row* row : rows) columns.push_back(signed_percent(row->change));
  print_head(columns);
  for (std::size_t rule = 0; rule < report.rules.size(); ++rule) {
    const auto& name = report.rules[rule].name;
    print_reports(name, rows, rule, 0);
    for (std::size_t by = 1; report.rules[rule].looks_again && by < kReportedBy.size(); ++by) {
      const auto comparisons = std::to_string(kReportedBy[by]);
      print_reports(name + ", by +" + comparisons, rows, rule, by);
    }
  }
}

/// Rate of false incidents a year, were every series as noisy as the recorded ones.
double a_year(double rate, const DetectionReport& report) {
  return rate * kComparisonsOfYear * report.series;
}

void print_alarms(const DetectionReport& report, const Row& row) {
  print_head({row.sampling + ", nothing changed", "judged", "slower %", "faster %", "undecided %",
              "most on one workload, slower %", "runs",
              "false incidents a year, " + std::to_string(report.series) + " series (95 % bound)"});
  for (std::size_t rule = 0; rule < report.rules.size(); ++rule) {
    const auto& by_workload = row.table[rule];
    const auto counts = together(by_workload);
    const auto share = share_of(counts.slower, counts.judged);
    const auto at = worst(by_workload, row.change);
    const auto most = share_of(by_workload[at].slower, by_workload[at].judged);
    std::printf("|%s|%ld|%s|%s|%s|%s|%.1f|%.3g (%.3g)|\n", report.rules[rule].name.c_str(),
                counts.judged, in_percent(share).c_str(),
                in_percent(share_of(counts.faster, counts.judged)).c_str(),
                in_percent(share_of(counts.undecided, counts.judged)).c_str(),
                (report.workloads[at] + " " + in_percent(most)).c_str(),
                counts.runs / static_cast<double>(counts.judged), a_year(share.rate, report),
                a_year(share.bound, report));
  }
}

void print_ours(const DetectionReport& report, const std::string& sampling) {
  constexpr std::size_t kOurs = 0;
  print_head({sampling + ", " + report.rules[kOurs].name, "judged", "slower %", "faster %",
              "undecided %", "worst workload %", "runs", "99 % interval holds %: screened",
              "confirmed"});
  for (const Row* row : rows_of(report, sampling)) {
    const auto& by_workload = row->table[kOurs];
    const auto counts = together(by_workload);
    const auto at = worst(by_workload, row->change);
    const long hits = row->change < 0 ? by_workload[at].faster : by_workload[at].slower;
    std::printf("|%s|%ld|%s|%s|%s|%s %s|%.1f|%s|%s|\n", signed_percent(row->change).c_str(),
                counts.judged, in_percent(share_of(counts.slower, counts.judged)).c_str(),
                in_percent(share_of(counts.faster, counts.judged)).c_str(),
                in_percent(share_of(counts.undecided, counts.judged)).c_str(),
                report.workloads[at].c_str(),
                in_percent(share_of(hits, by_workload[at].judged)).c_str(),
                counts.runs / static_cast<double>(counts.judged),
                in_percent(share_of(counts.screened_hold, counts.screened)).c_str(),
                in_percent(share_of(counts.confirmed_hold, counts.confirmed)).c_str());
  }
}

void print_sampling(const DetectionReport& report, const std::string& sampling) {
  print_power(report, sampling);
  for (const Row* row : rows_of(report, sampling)) {
    if (row->change == 0) print_alarms(report, *row);
  }
  print_ours(report, sampling);
}

json json_of(const Share& share) {
  return {{"count", share.hits}, {"of", share.of},     {"rate", share.rate},
          {"low", share.low},    {"high", share.high}, {"bound", share.bound}};
}

json json_of(const Counts& counts, double change) {
  const auto share = [&](long hits) { return json_of(share_of(hits, counts.judged)); };
  json by_comparison = json::array();
  for (std::size_t i = 0; i < kReportedBy.size(); ++i) {
    by_comparison.push_back(
        {{"comparisons", kReportedBy[i]}, {"slower", share(counts.slower_by[i])}});
  }
  return {{"judged", counts.judged},
          {"slower", share(slower(counts, change))},
          {"faster", share(counts.faster)},
          {"undecided", share(counts.undecided)},
          {"slower_by", by_comparison},
          {"runs", counts.runs / static_cast<double>(counts.judged)},
          {"screened_interval_holds", json_of(share_of(counts.screened_hold, counts.screened))},
          {"confirmed_interval_holds", json_of(share_of(counts.confirmed_hold, counts.confirmed))}};
}

json json_of(const DetectionReport& report, const Row& row, std::size_t rule) {
  const auto all = together(row.table[rule]);
  json result = json_of(all, row.change);
  result["rule"] = report.rules[rule].name;
  result["sampling"] = row.sampling;
  result["change"] = row.change;
  result["worst_workload"] = report.workloads[worst(row.table[rule], row.change)];
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    result["workloads"][report.workloads[i]] = json_of(row.table[rule][i], row.change);
  }
  if (row.change != 0) return result;
  const auto share = share_of(all.slower, all.judged);
  result["false_incidents_per_year"] = {{"rate", a_year(share.rate, report)},
                                        {"bound", a_year(share.bound, report)}};
  return result;
}

}  // namespace

void print(const DetectionReport& report) {
  std::printf("%s: %zu workloads, %zu comparisons, %zu processes of each workload\nseed %llu\n",
              report.file.c_str(), report.workloads.size(), report.comparisons,
              report.runs_of_one_workload, static_cast<unsigned long long>(report.seed));
  print_sampling(report, "chronological");
  print_sampling(report, "resampled");
}

json to_json(const DetectionReport& report) {
  json names = json::array();
  for (const auto& rule : report.rules) names.push_back(rule.name);
  json rows = json::array();
  for (const auto& row : report.rows) {
    for (std::size_t rule = 0; rule < report.rules.size(); ++rule) {
      rows.push_back(json_of(report, row, rule));
    }
  }
  return {{"file", report.file},
          {"seed", report.seed},
          {"series", report.series},
          {"comparisons", report.comparisons},
          {"workloads", report.workloads},
          {"runs_of_one_workload", report.runs_of_one_workload},
          {"rules", names},
          {"rows", rows}};
}

}  // namespace torchwatch::experiments
