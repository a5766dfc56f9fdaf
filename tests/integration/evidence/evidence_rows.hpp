#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/documents/block.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/storage/rows.hpp"

/// A fresh database, filled by its stores as the pipeline fills it.
struct EvidenceRows {
  using Id = torchwatch::storage::Id;

  /// A nightly that is at hand.
  Id add_build(const std::string& name, const std::string& version = "2.14.0");
  /// A comparison of the purpose with a verdict on each of the series, opened at that time.
  torchwatch::storage::ComparisonRow add_comparison(
      Id candidate, Id baseline, torchwatch::storage::WallMillis at = 1,
      torchwatch::storage::Purpose = torchwatch::storage::Purpose::nightly);
  void add_verdict(Id comparison, const torchwatch::Series&, torchwatch::Verdict, double ratio,
                   double candidate_value = 0);
  /// A run that ended well, in the slot of a block; its id.
  Id add_run(const torchwatch::storage::ComparisonRow&, const torchwatch::comparison::Block&,
             int position, torchwatch::RunResult);
  /// Four timing runs of a block of that stage; their samples are 10 i + 1, 10 i + 3, 10 i + 2.
  void add_block(const torchwatch::storage::ComparisonRow&, const torchwatch::Benchmark&,
                 torchwatch::comparison::Stage, int index = 0);

  torchwatch::test::TemporaryFolder folder;
  std::unique_ptr<torchwatch::storage::Database> database =
      torchwatch::storage::Database::open({folder.path() / "torchwatch.sqlite", "", false}).value();
  torchwatch::evidence::Context context{.database = *database, .is_trusted = true};
  /// The facts of the runs that are added.
  std::map<std::string, std::string> facts{{"cpu_model", "Model X"}, {"kernel", "6.1"}};
  torchwatch::storage::WallMillis now = 1'000;
};

/// A series of a model on a CPU.
torchwatch::Series series_of(const std::string& workload,
                             torchwatch::Metric metric = torchwatch::Metric::time,
                             torchwatch::Mode mode = torchwatch::Mode::train);
