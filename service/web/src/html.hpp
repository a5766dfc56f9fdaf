#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::web {

// Text of others gets into a page through here alone.

/// The text with all that HTML would understand written out.
std::string html_text(std::string_view text);

/// A table; the cells are plain text.
std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows);

/// A whole page without scripts, styles or anything from elsewhere.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace torchwatch::web
