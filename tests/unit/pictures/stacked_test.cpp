#include <catch2/catch.hpp>

#include "golden.hpp"
#include "samples.hpp"
#include "torchwatch/pictures/picture.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// As a stranger's, whose drawings lead nowhere.
drawing::History without_links(drawing::History history) {
  for (auto& point : history.points) point.link.clear();
  for (auto& mark : history.marks) mark.link.clear();
  return history;
}

template <typename Drawing>
std::string svg(Drawing drawing, const std::string& id) {
  drawing.frame.id = id;
  return svg_of(drawing);
}

}  // namespace

TEST_CASE("a picture of two drawings reads as accepted") {
  require_golden("incident_picture.svg",
                 pictures::stacked("Every sample of resnet18 cpu-train time; its past",
                                   {svg(sample_strips(), "samples-1"),
                                    svg(without_links(sample_history()), "history")}));
}

TEST_CASE("a picture is as wide as its widest drawing, and as high as all with a gap between") {
  const std::string first =
      "<svg viewBox=\"0 0 300 100\" width=\"300\" height=\"100\">\n<path/></svg>\n";
  const std::string second =
      "<svg viewBox=\"0 0 720 50\" width=\"720\" height=\"50\">\n<path/></svg>\n";
  const auto picture = pictures::stacked("two", {first, second});
  CHECK_THAT(picture, Contains("viewBox=\"0 0 720 174\" width=\"720\" height=\"174\"") &&
                          Contains("translate(0 0)") && Contains("translate(0 124)"));
}

TEST_CASE("a hostile name is harmless in a picture") {
  auto strips = sample_strips();
  strips.title = "</title><script>alert(1)</script>]]>";
  strips.candidate = "\"><image href=x onerror=alert(1)>";
  const auto picture = pictures::stacked(strips.title, {svg(strips, "samples-1")});
  CHECK_THAT(picture,
             !Contains("<script") && !Contains("<image") && Contains("&lt;script&gt;alert(1)"));
}

TEST_CASE("a picture's address has the hash of its content") {
  CHECK(pictures::address_of({.svg = "", .version = "0123456789abcdef"},
                             "https://torchwatch.example.org/incidents/7") ==
        "https://torchwatch.example.org/incidents/7/evidence.svg?v=0123456789abcdef");
}
