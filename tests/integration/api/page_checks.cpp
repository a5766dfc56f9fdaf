#include "page_checks.hpp"

#include <algorithm>
#include <charconv>
#include <regex>

const std::string kSeriesPage = "/series?workload=resnet18&configuration=cpu-train";

const std::vector<std::string> kPages{"/",
                                      "/comparisons",
                                      "/comparisons/1",
                                      "/comparisons/1?only=regressed&order=name",
                                      "/nightlies/2.14.0.dev20260817",
                                      "/compare/2.14.0.dev20260816...2.14.0.dev20260817",
                                      "/incidents",
                                      "/incidents/1",
                                      "/bisections",
                                      "/bisections/1",
                                      "/models",
                                      "/models?sort=-cpu-train",
                                      "/models/resnet18",
                                      "/series",
                                      kSeriesPage,
                                      kSeriesPage + "&show=changes",
                                      kSeriesPage + "&show=logarithmic",
                                      "/series/resnet18/cpu-train/default/time",
                                      "/builds",
                                      "/builds/1",
                                      "/machines",
                                      "/mutes",
                                      "/machines/1",
                                      "/machines/compare",
                                      "/queue",
                                      "/search",
                                      "/search?q=resnet18",
                                      "/gpu",
                                      "/coverage",
                                      "/help"};

namespace {

/// The end of the tag that begins at `begin`: its ">" outside of quotation marks.
std::size_t end_of_tag(const std::string& html, std::size_t begin) {
  bool is_quoted = false;
  for (auto at = begin; at < html.size(); ++at) {
    if (html[at] == '"') is_quoted = !is_quoted;
    if (html[at] == '>' && !is_quoted) return at;
  }
  return html.size();
}

/// The values of an attribute in all tags.
std::vector<std::string> values_of(const std::string& html, const std::string& attribute) {
  const std::regex value("\\s" + attribute + "=\"([^\"]*)\"");
  std::vector<std::string> values;
  for (const auto& tag : tags_of(html)) {
    for (std::sregex_iterator found(tag.begin(), tag.end(), value), end; found != end; ++found) {
      values.push_back(std::regex_replace((*found)[1].str(), std::regex("&amp;"), "&"));
    }
  }
  return values;
}

/// An address as seen from the root; empty for one of another service, or within the page.
std::string resolved(const std::string& page, std::string address) {
  address = address.substr(0, address.find('#'));
  if (address.empty() || address.find("://") != std::string::npos) return "";
  const auto path = page.substr(0, page.find('?'));
  if (address.starts_with('?')) return path + address;
  auto folder = path.substr(0, path.rfind('/') + 1);
  while (address.starts_with("../") || address.starts_with("./")) {
    if (address.starts_with("../") && folder.size() > 1) {
      folder.erase(folder.rfind('/', folder.size() - 2) + 1);
    }
    address.erase(0, address.find('/') + 1);
  }
  return folder + address;
}

bool is_number(const std::string& text) {
  double number = 0;
  const auto* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The text without its code, whose content nothing interprets.
std::string without_code(const std::string& markdown) {
  std::string rest;
  for (std::size_t at = 0; at < markdown.size();) {
    if (markdown[at] == '\\') {
      rest += "..";
      at += 2;
      continue;
    }
    if (markdown[at] != '`') {
      rest += markdown[at++];
      continue;
    }
    const auto begin = std::min(markdown.find_first_not_of('`', at), markdown.size());
    const std::string fence(begin - at, '`');
    auto end = markdown.find(fence, begin);
    while (end != std::string::npos && markdown.find_first_not_of('`', end) != end + fence.size() &&
           end + fence.size() < markdown.size()) {
      end = markdown.find(fence, markdown.find_first_not_of('`', end));
    }
    at = end == std::string::npos ? begin : end + fence.size();
  }
  return rest;
}

}  // namespace

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (auto at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    tags.push_back(html.substr(at + 1, end_of_tag(html, at) - at - 1));
  }
  return tags;
}

std::string wrong_tag(const std::string& html) {
  const std::vector<std::string> never_closed{"!doctype", "meta", "link", "input", "br", "wbr"};
  std::vector<std::string> open;
  for (auto at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const auto end = end_of_tag(html, at);
    const auto tag = html.substr(at + 1, end - at - 1);
    const auto name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.ends_with('/') || std::ranges::find(never_closed, name) != never_closed.end()) continue;
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return "<" + name + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + ">";
}

std::vector<std::string> alternates_of(const std::string& page, const std::string& html) {
  static const std::regex kAlternate("rel=\"alternate\" type=\"[a-z/]+\" href=\"([^\"]+)\"");
  const auto path = page.substr(0, page.find('?'));
  std::vector<std::string> found;
  for (std::sregex_iterator link(html.begin(), html.end(), kAlternate), end; link != end; ++link) {
    const auto address = std::regex_replace((*link)[1].str(), std::regex("&amp;"), "&");
    found.push_back(path.substr(0, path.rfind('/') + 1) + address);
  }
  return found;
}

std::vector<std::string> links_of(const std::string& page, const std::string& html) {
  std::vector<std::string> links;
  for (const auto& address : values_of(html, "href")) {
    const auto link = resolved(page, address);
    if (!link.empty() && address != "data:,") links.push_back(link);
  }
  return links;
}

std::string harm_in_html(const std::string& html) {
  static const std::regex kForeign("^/?(script|img|iframe|object|embed|base|style|b|i|image)\\b",
                                   std::regex::icase);
  static const std::regex kQuoted("\"[^\"]*\"");
  static const std::regex kHandler("\\s(on\\w+|style|srcdoc)\\s*=", std::regex::icase);
  for (const auto& tag : tags_of(html)) {
    if (std::regex_search(tag, kForeign)) return "<" + tag + ">";
    if (std::regex_search(std::regex_replace(tag, kQuoted, "\"\""), kHandler)) return tag;
  }
  for (const auto* attribute : {"href", "src", "action", "formaction", "xlink:href"}) {
    for (const auto& address : values_of(html, attribute)) {
      const auto scheme = address.substr(0, address.find_first_of("/?#"));
      const bool is_ours = scheme.find(':') == std::string::npos && !address.starts_with("//");
      const bool is_known = address == "data:," || address.starts_with("https://github.com/") ||
                            address == "https://ui.perfetto.dev";
      if (!is_ours && !is_known) return std::string(attribute) + "=" + address;
    }
  }
  return wrong_tag(html);
}

std::string harm_in_svg(const std::string& svg) {
  static const std::regex kForeign("^/?(script|foreignobject|image|iframe|object|embed|img|b|i)\\b",
                                   std::regex::icase);
  static const std::regex kQuoted("\"[^\"]*\"");
  static const std::regex kHandler("\\son\\w+\\s*=", std::regex::icase);
  static const std::regex kBareSign("&(?!(amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-f]+);)",
                                    std::regex::icase);
  static const std::regex kLoaded("@import|url\\((?!#)", std::regex::icase);
  if (!svg.starts_with("<svg ")) return "no SVG";
  std::smatch found;
  if (std::regex_search(svg, found, kBareSign)) return svg.substr(found.position(), 100);
  for (const auto& tag : tags_of(svg)) {
    if (std::regex_search(tag, kForeign)) return "<" + tag + ">";
    if (std::regex_search(std::regex_replace(tag, kQuoted, "\"\""), kHandler)) return tag;
    if (std::regex_search(tag, kLoaded)) return tag;
  }
  const auto style = svg.find("<style>");
  const auto sheet = style == std::string::npos
                         ? std::string()
                         : svg.substr(style, svg.find("</style>", style) - style);
  if (std::regex_search(sheet, found, kLoaded)) return found.str();
  for (const auto* attribute : {"href", "src", "xlink:href"}) {
    for (const auto& address : values_of(svg, attribute)) {
      if (!address.starts_with('#')) return std::string(attribute) + "=" + address;
    }
  }
  return wrong_tag(svg);
}

std::string harm_in_csv(const std::string& csv) {
  std::string cell;
  bool is_quoted = false;
  for (const char c : csv) {
    if (c == '"') is_quoted = !is_quoted;
    const bool is_end = !is_quoted && (c == ',' || c == '\n');
    if (!is_end) {
      const bool is_of_line_end = c == '\r' && !is_quoted;
      if (c != '"' && !is_of_line_end) cell += c;
      continue;
    }
    const bool looks_bad =
        !cell.empty() && std::string("=+-@\t\r").find(cell[0]) != std::string::npos;
    if (looks_bad && !is_number(cell)) return cell;
    cell.clear();
  }
  return is_quoted ? "a quotation mark is not closed" : "";
}

std::string harm_in_markdown(const std::string& markdown) {
  static const std::regex kHarm("<[a-z/!]|\\]\\((javascript|data|//)|!\\[|@[a-z]",
                                std::regex::icase);
  // Our own links: relative ones, and those of the configuration.
  static const std::regex kOurs(
      "\\]\\(<((https://github\\.com/|https://ui\\.perfetto\\.dev)?[^<>:\\n]*)>\\)");
  const auto text = std::regex_replace(without_code(markdown), kOurs, "");
  std::smatch found;
  if (!std::regex_search(text, found, kHarm)) return "";
  return text.substr(static_cast<std::size_t>(found.position()), 100);
}
