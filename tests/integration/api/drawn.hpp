#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api_fixture.hpp"
#include "torchwatch/records/run_result.hpp"
#include "torchwatch/runs/run_store.hpp"

/// A column that the table below each kind of drawing has, and no other: a heat map, changes,
/// samples, levels of memory, a past, steps of a search, probes, shares of a GPU's time, pasts of a
/// whole suite, two machine classes.
inline const std::vector<std::string> kColumnsOfDrawings{
    "workload", "threshold", "samples", "iteration", "build or event",
    "probe",    "remark",    "active",  "middle",    "difference"};

/// Stores a search between "aaaa" and "bbbb" that measured "cccc", its first suspect, once; its id.
torchwatch::storage::Id add_search_of_one_step(
    torchwatch::storage::Database&, const torchwatch::Series&,
    std::optional<torchwatch::storage::Id> incident = {});

/// What `fill` stores and everything else that can be drawn: a verdict of exact figures, an
/// incident of two series (id 2) with a search (id 2) of which two commits were probed, levels of
/// memory and profiles of both builds, a second nightly (comparison 2, of build 3), and times of
/// build 3 on two machine classes.
struct Drawn : Api {
  Drawn();

  /// Addresses of pages, beyond kPages, that have drawings of all that.
  static const std::vector<std::string> kMorePages;

 private:
  void add_exact_verdict();
  void add_incident_of_two();
  void add_second_nightly();
  void add_result(torchwatch::storage::NewAttempt, torchwatch::RunResult);
  void add_memory(torchwatch::storage::Id build, std::vector<std::int64_t> live);
  void add_profile(torchwatch::storage::Id build, torchwatch::Breakdown);
  void add_second_class();
  /// A timing run of build 3 on a machine of that processor.
  void add_time(torchwatch::storage::Id measurement, const std::string& processor,
                std::int64_t nanoseconds);
  void add_steps();
  void add_probe(torchwatch::storage::Id bisection, const std::string& sha, const std::string& slot,
                 std::int64_t nanoseconds);
};
