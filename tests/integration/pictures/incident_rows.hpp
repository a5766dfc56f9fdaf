#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "evidence_rows.hpp"
#include "torchwatch/pictures/picture.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

/// Four nightlies, of which the newest found that two series became slower and one leaks.
struct IncidentRows : EvidenceRows {
  using Series = torchwatch::Series;

  IncidentRows() {
    for (int i = 0; i < 3; ++i) add_night(100 + i, {});
    incident = add_night(115, {resnet, bert, leak});
    add_block(comparison, resnet.benchmark, torchwatch::comparison::Stage::screen);
  }

  torchwatch::storage::IncidentRow add_night(double value, const std::vector<Series>& of_incident) {
    const auto name = "2.14.0.dev2026081" + std::to_string(++nights);
    const auto candidate = add_build(name);
    comparison =
        add_comparison(candidate, nights == 1 ? add_build("first") : newest, 1'000 * nights);
    newest = candidate;
    const double ratio = value / 100;
    for (const auto& series : {resnet, bert}) {
      const bool is_worse = !of_incident.empty();
      add_verdict(comparison.id, series,
                  is_worse ? torchwatch::Verdict::regressed : torchwatch::Verdict::unchanged,
                  series == resnet ? ratio : ratio - 0.05, value);
    }
    if (of_incident.empty()) return {};
    torchwatch::storage::IncidentRow row;
    row.comparison = comparison.id;
    row.key = "time-cpu";
    row.title = "resnet18";
    row.opened_at = 1;
    const auto verdicts = torchwatch::storage::verdicts_of(*database, comparison.id).value();
    for (const auto& verdict : verdicts) {
      row.series.push_back(torchwatch::storage::incident_series(verdict));
    }
    return torchwatch::storage::IncidentStore(*database).open(row).value();
  }

  const Series resnet = series_of("resnet18");
  const Series bert = series_of("hf_Bert");
  const Series leak = series_of("dlrm", torchwatch::Metric::leak_growth);
  int nights = 0;
  Id newest = 0;
  torchwatch::storage::ComparisonRow comparison;
  torchwatch::storage::IncidentRow incident;
};
