#pragma once

#include <catch2/catch.hpp>
#include <string>

/// The text without its fenced blocks, code spans, <code> elements and the marker: what GitHub
/// reads as Markdown.
inline std::string live_text(const std::string& body) {
  std::string live;
  for (std::size_t at = 0; at < body.size();) {
    if (body.compare(at, 6, "<code>") == 0) {
      at = body.find("</code>", at) + 7;
    } else if (body[at] == '`') {
      const auto fence_end = body.find_first_not_of('`', at);
      const std::string fence = body.substr(at, fence_end - at);
      auto close = fence_end;
      while (true) {  // a closing run has exactly the opening one's length
        close = body.find(fence, close);
        REQUIRE(close != std::string::npos);
        const auto run_end = body.find_first_not_of('`', close);
        if (run_end - close == fence.size()) break;
        close = run_end;
      }
      at = close + fence.size();
    } else {
      live += body[at++];
    }
  }
  return live;
}
