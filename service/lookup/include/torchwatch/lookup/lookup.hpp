#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/evidence/context.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::lookup {

/// What a search can find.
enum class FoundKind {
  workload,
  series,
  build,
  commit,
  incident,
  comparison,
  bisection,
  machine,
  request,
  operation  ///< an operator, which is a word of C++
};

struct Found {
  FoundKind kind = FoundKind::workload;
  std::string name = {};  ///< "resnet18"; "12"; a sha
  std::string text = {};  ///< what it is, in a line: a title, "nightly, reported"
  std::string path = {};  ///< its place in lists and pages: "incidents/12", "series/resnet18/..."
};

/// Returns the suite's workloads, each with its name.
using Suite = std::function<Result<nlohmann::json>()>;

/// Most characters of a search.
inline constexpr std::size_t kSearchMax = 200;

/// Finds what the words name: workloads, series ("bert cuda train time"), builds by name, version
/// or commit, commits that incidents name or one of the newest bisections tried, machines by their
/// facts, operators that the newest build with coverage calls, and incidents, comparisons,
/// bisections, machines and requests by number; incidents by the words of a title too, requests by
/// those of what was asked, which strangers do not see. At most `limit`, those that the words name
/// best first. Workloads of the suite are found before they have values, too; a suite that cannot
/// be read, or is empty, adds none. Errors: of storage.
Result<std::vector<Found>> look_up(const evidence::Context&, const std::string& words,
                                   std::size_t limit, const Suite& suite = {});

}  // namespace torchwatch::lookup

namespace torchwatch {

template <>
struct Words<lookup::FoundKind> {
  using enum lookup::FoundKind;
  static constexpr std::string_view kKind = "kind of what is found";
  static constexpr std::array kAll{Word{workload, "workload"},   Word{series, "series"},
                                   Word{build, "build"},         Word{commit, "commit"},
                                   Word{incident, "incident"},   Word{comparison, "comparison"},
                                   Word{bisection, "bisection"}, Word{machine, "machine"},
                                   Word{request, "request"},     Word{operation, "operator"}};
};

}  // namespace torchwatch
