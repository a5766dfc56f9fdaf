#include <algorithm>

#include "incident_rows.hpp"

using namespace torchwatch;
using Catch::Contains;
using pictures::Shown;

namespace {

std::vector<Shown> kinds_of(const std::vector<pictures::Drawn>& all) {
  std::vector<Shown> kinds;
  for (const auto& each : all) kinds.push_back(each.what);
  return kinds;
}

std::size_t longest_line(std::string_view text) {
  std::size_t longest = 0;
  std::size_t line = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
    line = c == '\n' ? 0 : line + (continues ? 0 : 1);
    longest = std::max(longest, line);
  }
  return longest;
}

}  // namespace

TEST_CASE_METHOD(IncidentRows, "an incident is drawn by its samples, its past and its changes") {
  const auto all = pictures::drawings_of(context, incident).value();
  REQUIRE(kinds_of(all) == std::vector{Shown::samples, Shown::history, Shown::changes});
  CHECK_THAT(all[0].sentence, Contains("Every sample of resnet18 cpu-train time, +15.0 %"));
  CHECK(all[0].table.rows.size() == 4);
  CHECK_THAT(all[1].sentence, Contains("in 4 comparisons of nightlies, up to this one"));
  CHECK_THAT(all[2].sentence, Contains("2 changes with intervals"));
  CHECK(all[0].name != all[1].name);
}

TEST_CASE_METHOD(IncidentRows, "the sentence of a drawing states the change that is drawn") {
  auto kept = incident;
  for (auto& row : kept.series) row.ratio = 1.5;
  const auto all = pictures::drawings_of(context, kept).value();
  CHECK_THAT(all[0].sentence, Contains("+15.0 %") && !Contains("+50.0 %"));
  CHECK_THAT(all[0].text(80), Contains("+15.0 %"));
  const auto effects = pictures::effects_of(*database, kept).value();
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].ratio == Approx(1.15));
}

TEST_CASE_METHOD(IncidentRows, "the past of an incident does not grow with later nightlies") {
  const auto before = pictures::picture_of(context, incident).value().value();
  add_night(150, {});
  CHECK(pictures::picture_of(context, incident).value().value().version == before.version);
}

TEST_CASE_METHOD(IncidentRows, "the drawings of an incident fit a terminal of 60 to 200 columns") {
  const auto all = pictures::drawings_of(context, incident).value();
  for (const int columns : {60, 80, 120, 200}) {
    for (const auto& text : pictures::texts_of(all, columns)) {
      INFO(columns << "\n" << text);
      CHECK(longest_line(text) <= static_cast<std::size_t>(columns));
      CHECK_THAT(text, Catch::EndsWith("\n"));
    }
  }
}

TEST_CASE_METHOD(IncidentRows, "the steps of a search are drawn where an incident has one") {
  auto searched = incident;
  searched.bisection = 99;
  const auto steps_of = [](const storage::BisectionRow&) {
    return Result<std::vector<report::TraceStep>>();
  };
  // The search is read: one that is not stored is an error, and without steps nothing asks.
  CHECK_FALSE(pictures::drawings_of(context, searched, steps_of));
  CHECK(pictures::drawings_of(context, searched).value().size() == 3);
}

TEST_CASE_METHOD(IncidentRows, "a lost benchmark has a past and no samples to compare") {
  auto lost = incident;
  lost.kind = IncidentKind::lost;
  const auto kinds = kinds_of(pictures::drawings_of(context, lost).value());
  CHECK(std::ranges::count(kinds, Shown::samples) == 0);
  CHECK(std::ranges::count(kinds, Shown::history) == 1);
}

TEST_CASE_METHOD(IncidentRows, "a picture is the same whoever asks, and has no link") {
  auto stranger = context;
  stranger.is_trusted = false;
  context.links.series = [](const Series&) { return std::string("series/x"); };
  const auto one = pictures::picture_of(context, incident).value().value();
  CHECK(one.svg == pictures::picture_of(stranger, incident).value().value().svg);
  CHECK_THAT(one.svg, !Contains("<a ") && !Contains("series/x"));
  CHECK(one.version.size() == 16);
}

TEST_CASE_METHOD(IncidentRows, "an incident of which nothing is stored has no picture") {
  storage::IncidentRow row;
  row.comparison = comparison.id;
  row.series.push_back({.series = series_of("alexnet"), .ratio = 1.1});
  CHECK_FALSE(pictures::picture_of(context, row).value());
}
