#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/pictures/incident_drawings.hpp"

namespace torchwatch::pictures {

/// A picture as a file: an SVG that needs nothing else.
struct Picture {
  std::string svg;
  std::string version;  ///< of its content: another picture has another one
};

/// Makes the picture of an incident: the samples, or levels of memory, of its largest change, and
/// the past of that series. Nothing where neither is there. It shows what a stranger may see,
/// whoever asks. Errors: those of storage.
Result<std::optional<Picture>> picture_of(const evidence::Context&, const storage::IncidentRow&);

/// Makes the address of an incident's picture from that of its page.
std::string address_of(const Picture&, const std::string& page);

/// Makes a file of its own of drawings below one another.
std::string stacked(const std::string& title, const std::vector<std::string>& svgs);

}  // namespace torchwatch::pictures
