#pragma once

#include <iosfwd>

#include "torchwatch/database/database.hpp"

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

}  // namespace torchwatch::exports
