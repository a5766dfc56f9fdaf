#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/pictures/incident_drawings.hpp"

namespace torchwatch::exports {

enum class ExportFormat {
  csv,         ///< a line of names, then one a row; for samples one a sample
  json_lines,  ///< one object a line
};

/// Writes every verdict with its comparison and its builds' names, the oldest comparison first.
/// Errors: those of storage; unavailable, when the stream takes no more.
Status export_verdicts(storage::Database&, ExportFormat, std::ostream&);

/// Writes every run that gave a result, with its values and its samples in ns, the runs of
/// comparisons before those of bisections. Errors: those of storage (corrupt: samples that do not
/// match their digest); unavailable.
Status export_samples(storage::Database&, ExportFormat, std::ostream&);

/// Writes the drawings of an incident into a folder, which is made, each as an SVG that needs no
/// other file and as a table of what it shows; returns their paths. Errors: not_found; those of
/// storage; conflict, when the folder is there already; unavailable.
Result<std::vector<std::filesystem::path>> export_evidence(const evidence::Context&,
                                                           storage::Id incident,
                                                           const pictures::StepsOf&,
                                                           const std::filesystem::path& folder,
                                                           ExportFormat);

}  // namespace torchwatch::exports
