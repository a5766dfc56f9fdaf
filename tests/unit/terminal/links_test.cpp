#include "torchwatch/terminal/links.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::terminal;

namespace {

const Screen kScreen{.has_links = true, .key = "key"};
const std::vector<Link> kLinks{{"33de6cd2393f", "https://x.test/commit/33de6cd2393f"},
                               {"incident 12", "https://x.test/incidents/12"}};

std::string link(const std::string& text, const std::string& url) {
  return "\033]8;id=key;" + url + "\033\\" + text + "\033]8;;\033\\";
}

}  // namespace

TEST_CASE("each commit and issue leads to its page, wherever it stands") {
  CHECK(linked("33de6cd2393f Warm up (incident 12)\n 33de6cd2393f", kLinks, kScreen) ==
        link("33de6cd2393f", kLinks[0].url) + " Warm up (" + link("incident 12", kLinks[1].url) +
            ")\n " + link("33de6cd2393f", kLinks[0].url));
}

TEST_CASE("a part of a longer word leads nowhere") {
  for (const std::string text :
       {"33de6cd2393f0", "a33de6cd2393f", "incident 123", "xincident 12"}) {
    CHECK(linked(text, kLinks, kScreen) == text);
  }
}

TEST_CASE("shas and issues are found once each, and no part of a longer word") {
  const std::string text =
      "33de6cd2393f Warm up, 33de6cd2393f, 1f0c5b7a9e21; 33de6cd2393f0 x33de6cd2393f\n"
      "filed as issue #12, newest issue #7; issue #12; issue # and #9";
  CHECK(short_shas_in(text) == std::vector<std::string>{"33de6cd2393f", "1f0c5b7a9e21"});
  CHECK(issues_in(text) == std::vector<std::string>{"12", "7"});
  CHECK(short_shas_in("").empty());
}

TEST_CASE("text is as it was where the screen has no links") {
  CHECK(linked("33de6cd2393f", kLinks, {.has_colour = true, .key = "key"}) == "33de6cd2393f");
}

TEST_CASE("an address that a terminal could take for a command makes no link") {
  const std::vector<Link> links{{"here", "https://x.test/\033\\a b"}, {"", "https://x.test/"}};
  CHECK(linked("here", links, kScreen) == "here");
}
