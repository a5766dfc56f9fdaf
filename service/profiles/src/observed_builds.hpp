#pragma once

#include <string>
#include <vector>

#include "torchwatch/evidence/observed.hpp"
#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {

// What the pages share that show a pass which times nothing.

/// The build that a page is about, and the one before it.
using Builds = evidence::ObservedBuilds;

/// Reads ?build=, an id or a name; without it as evidence::observed_builds does. Errors: not_found.
Result<Builds> builds_of(const std::string& given, Pass, const View&);

html::Fragment link_to(const storage::BuildRow&, const View&);

/// How profiles or coverage of the build come about, where there are none.
html::Fragment how_to(const std::string& nothing, const char* flag, const Builds&, const View&);

/// "resnet18, bert and 12 more", each once.
std::string models_of(const std::vector<Benchmark>&);

}  // namespace torchwatch::pages
