// What /help says must be what is so.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

#include "api_fixture.hpp"

using Catch::Contains;

namespace {

std::string script() {
  std::ifstream file(std::string(TORCHWATCH_SOURCE_DIR) + "/service/assets/script/main.js");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the page of help lists every key of the script, for who has no script") {
  Api api;
  const auto page = api.get("/help.md").text;
  const auto text = script();
  const std::regex key(R"re(\["([^"]+)", "([A-Z][^"]+)", )re");
  int keys = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), key), end; i != end; ++i, ++keys) {
    INFO(i->str(1));
    CHECK_THAT(page, Contains(i->str(2)));
  }
  CHECK(keys == 26);
}

TEST_CASE("the page of help has the formula with the numbers that hold here") {
  Api api;
  const auto page = api.page("/help");
  CHECK_THAT(page, Contains("reaches the gate, +6.0 %") && Contains("the threshold, +3.5 %") &&
                       Contains("false incidents per year: 1.") && Contains("is +2.0 %."));
  CHECK_THAT(page, Contains("its estimated change reached the gate, +6.0 %, and showed again"));
}

TEST_CASE("the table of help is the whole glossary") {
  Api api;
  const auto table = api.get("/help.csv").text;
  CHECK_THAT(table,
             Contains("word,meaning\r\n") && Contains("\r\nincident,") && Contains("\r\ntwin,"));
}
