// Any bytes are a comment: the parser answers each, and what is quoted never is a command.
#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "torchwatch/conversation/command.hpp"

using namespace torchwatch::conversation;

namespace {

constexpr int kComments = 4'000;

const std::vector<std::string> kPieces{"/ack known",
                                       "/bisect",
                                       "/bisect deadbeef..cafebabe",
                                       "/mute dlrm 14d x",
                                       "/cancel",
                                       "/wrong x",
                                       "/bisekt",
                                       "> ",
                                       "    ",
                                       "```",
                                       "~~~",
                                       "`",
                                       "``",
                                       "<!--",
                                       "-->",
                                       "<div>",
                                       "</div>",
                                       "# ",
                                       "- ",
                                       "1. ",
                                       "[",
                                       "](",
                                       ")",
                                       "![",
                                       "*",
                                       "**",
                                       "_",
                                       "\\",
                                       "&#47;",
                                       "|",
                                       "\r\n",
                                       "\n",
                                       "\n\n",
                                       "\r",
                                       " ",
                                       "\t",
                                       std::string(1, '\0'),
                                       "\xff\xfe",
                                       "\xe2\x80",
                                       "\xe2\x80\xae",
                                       "=",
                                       "===\n",
                                       "---\n",
                                       "<a href=\"",
                                       "\">",
                                       "text",
                                       "deadbeef",
                                       "..",
                                       "workload=",
                                       "@torchwatch ",
                                       "/",
                                       "//",
                                       "$(reboot)",
                                       "; rm -rf /"};

std::string random_comment(std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> piece(0, kPieces.size() - 1);
  std::uniform_int_distribution<int> length(0, 40);
  std::string text;
  for (int i = length(random); i > 0; --i) text += kPieces[piece(random)];
  return text;
}

bool is_none(const std::string& text) {
  return std::holds_alternative<std::monostate>(parse_command(text, "/"));
}

/// Puts something before each line, as the parser counts lines.
std::string with_each_line(const std::string& before, const std::string& text) {
  std::string out = before;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const bool is_first_of_pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\n' || (text[i] == '\r' && !is_first_of_pair)) out += before;
  }
  return out;
}

bool is_hex_or_empty(const std::string& text) {
  return text.empty() || (text.size() >= 7 && text.size() <= 40 &&
                          text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace

TEST_CASE("any comment gets an answer, and what a command holds is what it may hold") {
  std::mt19937 random(20261125);
  int commands = 0;
  for (int i = 0; i < kComments; ++i) {
    const auto text = random_comment(random);
    const auto parsed = parse_command(text, "/");
    const auto* command = std::get_if<Command>(&parsed);
    if (command == nullptr) continue;
    ++commands;
    INFO(text);
    for (const auto& sha : {command->good, command->bad, command->suspect, command->disputed}) {
      REQUIRE(is_hex_or_empty(sha));
    }
    for (const auto& line : {command->reason, command->workload, command->target}) {
      REQUIRE(line.find_first_of("\r\n") == std::string::npos);
    }
  }
  CHECK(commands > 50);
}

TEST_CASE("whatever a comment says, quoting it makes it say nothing") {
  std::mt19937 random(42);
  int said_something = 0;
  for (int i = 0; i < kComments; ++i) {
    const auto text = random_comment(random);
    INFO(text);
    if (!is_none(text)) ++said_something;
    REQUIRE(is_none(with_each_line("> ", text)));
    REQUIRE(is_none("`````````````\n" + with_each_line("x", text) + "\n`````````````"));
    REQUIRE(is_none(with_each_line("    ", "x\n\n" + text).substr(5)));
  }
  CHECK(said_something > 100);
}

TEST_CASE("a comment of the greatest length, nested as deep as that allows, is answered") {
  for (const auto* piece : {"> ", "- ", "[", "*", "<div>", "`", "/ack x\n", "![", "_*"}) {
    std::string text;
    while (text.size() < 65'536) text += piece;
    const auto parsed = parse_command(text + "\n\n/ack known", "/");
    CHECK(parsed.index() < 3);
  }
}
