#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/requests/names.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::requests {

/// What a request is checked against.
struct Ground {
  const config::Config& config;
  storage::Database* database = nullptr;    ///< null where none can be read: then no build is known
  std::vector<std::string> workloads = {};  ///< the suite's names
  bool has_gpu = false;
};

/// Checks whole what a request asks for: the builds or commits, the workloads, and whether this
/// machine can measure it. What needs the network or minutes is found later. Thread-safe; opens the
/// repository and lists the channel's folder anew. Errors: invalid, with what is wrong, what is
/// allowed, and what was probably meant; of storage.
Status check(const Ground&, storage::RequestKind, const nlohmann::json& body, Asking);

/// Checks what of the suite is asked for. Errors: as check.
Status check_selection(const Ground&, const comparison::Selection&);

/// Checks that a selection measures something: a workload may have one mode alone, or not state the
/// metrics that are asked for. Errors: invalid.
Status check_measured(const Ground&, const comparison::Selection&);

/// Returns whether the machine has a GPU that may be measured, by what its kernel shows below
/// `root`.
bool has_gpu(const std::filesystem::path& root = "/");

}  // namespace torchwatch::requests
