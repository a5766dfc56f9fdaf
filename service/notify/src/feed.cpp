#include "torchwatch/notify/feed.hpp"

#include <algorithm>

#include "torchwatch/http/problem.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::notify {
namespace {

using storage::IncidentRow;

constexpr int kEntriesMax = 50;
constexpr std::size_t kSeriesMax = 20;
constexpr std::size_t kTitleMax = 200;
constexpr const char* kFeedId = "urn:x-torchwatch:incidents";

/// Text of others as text of XML: no markup, no character that XML does not allow.
std::string xml_text(std::string_view given) {
  const auto text = printable(given);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto rest = std::string_view(text).substr(i, 3);
    if (rest == "\xEF\xBF\xBE" || rest == "\xEF\xBF\xBF") {
      out += '?';
      i += 2;
      continue;
    }
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

std::string element(const std::string& name, std::string_view text) {
  return "<" + name + ">" + xml_text(text) + "</" + name + ">\n";
}

std::string base_of(const FeedSources& sources) {
  auto base = sources.public_address;
  while (base.ends_with('/')) base.pop_back();
  return base.empty() ? "" : base + "/";
}

storage::WallMillis changed_at(const IncidentRow& incident) {
  auto newest = std::max(incident.opened_at, incident.closed_at);
  if (!incident.decisions.empty()) {
    newest = std::max(newest, incident.decisions.back().decision.at);
  }
  return newest;
}

/// What of an incident anybody may see: nobody's name and nobody's reason.
std::string content_of(const IncidentRow& incident) {
  std::string text = "State: " + std::string(report::state_word(incident)) + "\n";
  std::size_t left_out = 0;
  for (const auto& row : incident.series) {
    if (&row - incident.series.data() >= static_cast<std::ptrdiff_t>(kSeriesMax)) {
      ++left_out;
      continue;
    }
    const auto effect = report::effect_of(row);
    text += to_string(row.series);
    for (const auto& part : {report::change_text(effect), report::interval_text(effect)}) {
      if (!part.empty()) text += " " + part;
    }
    text += "\n";
  }
  if (left_out > 0) text += "and " + std::to_string(left_out) + " more series\n";
  return text;
}

std::string entry_of(const IncidentRow& incident, const std::string& base) {
  const auto id = std::to_string(incident.id);
  const auto address = base + "incidents/" + id;
  return "<entry>\n" +
         element("id",
                 "urn:x-torchwatch:incident:" + std::to_string(incident.opened_at) + ":" + id) +
         element("title", report::clean(incident.title, kTitleMax)) +
         element("published", platform::iso_utc(incident.opened_at)) +
         element("updated", platform::iso_utc(changed_at(incident))) +
         "<link rel=\"alternate\" type=\"text/html\" href=\"" + xml_text(address) + "\"/>\n" +
         "<category term=\"" + xml_text(to_string(incident.kind)) + "\"/>\n" +
         "<content type=\"text\">" + xml_text(content_of(incident)) + "</content>\n</entry>\n";
}

}  // namespace

Result<std::string> incident_feed(const FeedSources& sources) {
  TW_TRY(const auto incidents, storage::IncidentStore(sources.database).list(kEntriesMax));
  const auto base = base_of(sources);
  storage::WallMillis newest = 0;
  std::string entries;
  for (const auto& incident : incidents) {
    newest = std::max(newest, changed_at(incident));
    entries += entry_of(incident, base);
  }
  auto feed =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n" +
      element("id", base.empty() ? kFeedId : base + "incidents.atom") +
      element("title", "torchwatch: incidents") + element("updated", platform::iso_utc(newest)) +
      "<author><name>torchwatch</name></author>\n<link rel=\"alternate\" type=\"text/html\" "
      "href=\"" +
      xml_text(base + "incidents") + "\"/>\n";
  feed += "<link rel=\"self\" type=\"application/atom+xml\" href=\"" +
          xml_text(base + "incidents.atom") + "\"/>\n";
  return feed + entries + "</feed>\n";
}

http::Route feed_route(FeedSources sources) {
  return {.method = "GET",
          .path = "/incidents.atom",
          .handler = [sources](const http::Request& request) -> Result<http::Reply> {
            TW_TRY_VOID(http::refuse_parameters(request));
            TW_TRY(auto feed, incident_feed(sources));
            return http::Reply{200, "application/atom+xml; charset=utf-8", std::move(feed), {}};
          },
          .scope = Scope::read,
          .is_page = true};
}

}  // namespace torchwatch::notify
