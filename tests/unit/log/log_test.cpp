#include "torchwatch/log/log.hpp"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

using namespace torchwatch::log;
using Catch::Contains;
using Catch::Matches;
using nlohmann::json;

namespace {

std::vector<std::string> lines_of(const std::ostringstream& out) {
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void write_at_each_level(const Logger& logger, const std::string& text) {
  logger.debug(text);
  logger.info(text);
  logger.warning(text);
  logger.error(text);
}

/// How many bytes reach standard output and standard error meanwhile.
off_t bytes_written(const std::function<void()>& work) {
  const std::array kept{dup(STDOUT_FILENO), dup(STDERR_FILENO)};
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::cout.flush();
  std::fflush(nullptr);
  dup2(fileno(file), STDOUT_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  work();
  std::fflush(nullptr);
  const off_t bytes = lseek(fileno(file), 0, SEEK_END);
  dup2(kept[0], STDOUT_FILENO);
  dup2(kept[1], STDERR_FILENO);
  for (const int descriptor : kept) close(descriptor);
  std::fclose(file);
  return bytes;
}

}  // namespace

TEST_CASE("a record is one line: time in UTC, level, component, message, fields") {
  std::ostringstream out;
  const Log log({Level::info, Format::text}, out);
  log.logger("http").info("request", {{"path", "/api/v1/builds"}, {"status", 200}, {"why", "a b"}});
  CHECK_THAT(out.str(), Matches(R"re(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info http: )re"
                                R"re(request path=/api/v1/builds status=200 why="a b"\n)re"));
}

TEST_CASE("a JSON record is an object with the fields as members, numbers as numbers") {
  std::ostringstream out;
  const Log log({Level::info, Format::json}, out);
  log.logger("http").warning("a \"quoted\" word",
                             {{"status", 503}, {"ms", 1.5}, {"peer", "127.0.0.1"}});
  const auto record = json::parse(out.str());
  CHECK_THAT(record.at("time").get<std::string>(), Matches(R"(\d{4}-.*T.*\.\d{3}Z)"));
  CHECK(record.at("level") == "warning");
  CHECK(record.at("component") == "http");
  CHECK(record.at("message") == "a \"quoted\" word");
  CHECK(record.at("status") == 503);
  CHECK(record.at("ms") == 1.5);
  CHECK(record.at("peer") == "127.0.0.1");
}

TEST_CASE("a log writes its level and above, and nothing when it is off") {
  struct Case {
    Level level;
    std::size_t records;
  };
  for (const auto& [level, records] :
       {Case{Level::debug, 4}, Case{Level::info, 3}, Case{Level::warning, 2}, Case{Level::error, 1},
        Case{Level::off, 0}}) {
    std::ostringstream out;
    const Log log({level, Format::text}, out);
    write_at_each_level(log.logger("test"), "text");
    CHECK(lines_of(out).size() == records);
  }
}

TEST_CASE("a secret never reaches the log, at any level, in any format, in message or field") {
  const std::string secret = R"(p"ss\word)";
  for (const auto format : {Format::text, Format::json}) {
    std::ostringstream out;
    Log log({Level::debug, format}, out);
    const auto logger = log.logger("before");  // made before the secret was known
    log.hide(secret);
    write_at_each_level(logger, "the word is " + secret + ", said twice: " + secret);
    logger.error("field", {{"word", secret}, {"header", "Bearer 0123456789abcdef"}});
    REQUIRE(lines_of(out).size() == 5);
    for (const auto& line : lines_of(out)) {
      CHECK_THAT(line, Contains("[redacted]"));
      CHECK_THAT(line, !Contains("word)") && !Contains("ss\\") && !Contains("0123456789abcdef"));
    }
  }
}

TEST_CASE("foreign text cannot forge a record or a field") {
  const std::string hostile =
      "a\n2026-01-01T00:00:00.000Z error http: b\x1f#status=1\r\x7f\xff\xc2\x9b";
  std::ostringstream text;
  Log({Level::info, Format::text}, text).logger("http").info(hostile, {{"path", hostile}});
  CHECK(lines_of(text).size() == 1);
  CHECK(text.str().find("\xc2\x9b") == std::string::npos);
  std::ostringstream out;
  Log({Level::info, Format::json}, out).logger("http").info(hostile, {{"path", hostile}});
  REQUIRE(lines_of(out).size() == 1);
  const auto record = json::parse(out.str());
  CHECK(record.size() == 5);
  CHECK_FALSE(record.contains("status"));
}

TEST_CASE("records of several threads do not mix") {
  std::ostringstream out;
  const Log log({Level::info, Format::json}, out);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([logger = log.logger("thread"), i] {
      for (int j = 0; j < 100; ++j) logger.info("record", {{"thread", i}, {"number", j}});
    });
  }
  for (auto& thread : threads) thread.join();
  const auto lines = lines_of(out);
  CHECK(lines.size() == 400);
  for (const auto& line : lines) CHECK(json::accept(line));
}

TEST_CASE("a logger of no log writes nothing") {
  CHECK(bytes_written([] { write_at_each_level(Logger(), "nobody reads this"); }) == 0);
  std::ostringstream out;
  const Log log({Level::debug, Format::text}, out);
  write_at_each_level(Logger(), "nobody reads this");
  CHECK(out.str().empty());
}

TEST_CASE("levels and formats are words") {
  for (const auto* word : {"debug", "info", "warning", "error", "off"}) {
    CHECK(torchwatch::spelling(parse_level(word).value()) == word);
  }
  CHECK(torchwatch::spelling(parse_format("json").value()) == "json");
  CHECK(parse_level("loud").error().message ==
        "invalid log level \"loud\": must be one of debug, info, warning, error, off");
  CHECK(parse_format("xml").error().message ==
        "invalid log format \"xml\": must be one of text, json");
}
