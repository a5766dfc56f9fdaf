#include "html.hpp"

namespace torchwatch::web {
namespace {

std::string html_row(std::string_view cell_tag, const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const auto& cell : cells) {
    row += "<" + std::string(cell_tag) + ">" + html_text(cell) + "</" + std::string(cell_tag) + ">";
  }
  return row + "</tr>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char character : text) {
    switch (character) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += character;
    }
  }
  return safe;
}

std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string table = "<table border=\"1\" cellpadding=\"4\">\n<thead>" + html_row("th", head) +
                      "</thead>\n<tbody>\n";
  for (const auto& row : rows) table += html_row("td", row);
  return table + "</tbody>\n</table>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  const std::string heading = html_text(title);
  return "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" + heading +
         "</title></head>\n<body>\n<h1>" + heading + "</h1>\n" + std::string(body) +
         "</body>\n</html>\n";
}

}  // namespace torchwatch::web
