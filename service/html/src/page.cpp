#include "torchwatch/html/page.hpp"

#include "torchwatch/html/quoting.hpp"

namespace torchwatch::html {
namespace {

/// The choice of light or dark comes before the first paint, and before style sheets, which scripts
/// behind them wait for.
std::string theme_of(const Frame& frame) {
  if (frame.assets.empty()) return "";
  return "<script src=\"" + escaped(frame.assets) + "theme.js\"></script>\n";
}

/// At the end of a page: in its head, the modules delay the first paint by 50 ms.
std::string script_of(const Frame& frame) {
  if (frame.assets.empty()) return "";
  const auto folder = escaped(frame.assets);
  return "<link rel=\"stylesheet\" href=\"" + folder +
         "script.css\">\n<script type=\"module\" src=\"" + folder + "main.js\"></script>\n";
}

std::string head_of(const Frame& frame) {
  // The empty icon keeps browsers from asking for one.
  auto head =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n" +
      theme_of(frame) + "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"" +
      escaped(frame.root) + "style.css\">\n";
  for (const auto& alternate : frame.alternates) {
    head += "<link rel=\"alternate\" type=\"" + escaped(alternate.type) + "\" href=\"" +
            escaped(alternate.address) + "\">\n";
  }
  return head + "<title>" + escaped(frame.title) + "</title>\n</head>\n";
}

std::string bar_of(const Frame& frame) {
  std::string bar;
  for (const auto& place : frame.bar) {
    const auto* mark = place.name == frame.current ? " aria-current=\"page\"" : "";
    bar += "<li><a href=\"" + escaped(place.address) + "\"" + mark + ">" + escaped(place.name) +
           "</a></li>\n";
  }
  return "<nav aria-label=\"Pages\">\n<ul>\n" + bar + "</ul>\n</nav>\n";
}

std::string search_of(const Frame& frame) {
  return "<form role=\"search\" method=\"get\" action=\"" + escaped(frame.root) +
         "search\">\n<label for=\"q\">Search</label>\n"
         "<input id=\"q\" type=\"search\" name=\"q\" maxlength=\"200\" value=\"" +
         escaped(frame.searched) + "\">\n<button type=\"submit\">Find</button>\n</form>\n";
}

std::string way_of(const Frame& frame) {
  if (frame.way.empty()) return "";
  std::string way;
  for (const auto& place : frame.way) {
    way += place.address.empty()
               ? "<li aria-current=\"page\">" + escaped_prose(place.name) + "</li>\n"
               : "<li>" + link(place.address, place.name).html + "</li>\n";
  }
  return "<nav class=\"way\" aria-label=\"Way to this page\">\n<ol>\n" + way + "</ol>\n</nav>\n";
}

}  // namespace

std::string page_of(const Frame& frame, const Fragment& content) {
  return head_of(frame) + "<body>\n<a class=\"skip\" href=\"#content\">To the content</a>\n" +
         "<header>\n<p class=\"name\"><a href=\"" + escaped(frame.root) +
         "./\">torchwatch</a></p>\n" + bar_of(frame) + search_of(frame) + frame.account.html +
         "</header>\n" + way_of(frame) + "<main id=\"content\" tabindex=\"-1\">\n" + content.html +
         "</main>\n<footer>\n" + frame.footer.html + "</footer>\n" + script_of(frame) +
         "</body>\n</html>\n";
}

}  // namespace torchwatch::html
