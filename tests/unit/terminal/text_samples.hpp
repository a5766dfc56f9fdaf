#pragma once

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/terminal/comparison_text.hpp"
#include "torchwatch/terminal/incident_text.hpp"

namespace torchwatch::terminal {

inline constexpr storage::WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z
inline const std::string kSlowCommit = "5d1c1c3f0a9e8b7d6c5e4f3a2b1c0d9e8f7a6b5c";

Benchmark benchmark(const std::string& workload, Mode mode = Mode::train);
storage::VerdictRow verdict(const std::string& workload, Metric metric, Verdict word, double ratio);

/// A comparison in which something of every kind happened.
ComparisonFacts eventful_comparison();
/// The same builds without any change.
ComparisonFacts quiet_comparison();

report::TraceStep step(bisection::EventKind, std::optional<bisect::Purpose>,
                       const std::string& commit);

bisection::BisectionResult found_culprit();
/// Its incident, with the trace of a search.
IncidentFacts slow_incident();

}  // namespace torchwatch::terminal
