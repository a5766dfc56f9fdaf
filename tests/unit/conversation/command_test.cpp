#include "torchwatch/conversation/command.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::conversation;
using Catch::Contains;

namespace {

bool is_none(const Parsed& parsed) {
  return std::holds_alternative<std::monostate>(parsed);
}

Command command_of(const std::string& text, const std::string& prefix = "/") {
  const auto parsed = parse_command(text, prefix);
  INFO(text);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) INFO(mistake->what);
  REQUIRE(std::holds_alternative<Command>(parsed));
  return std::get<Command>(parsed);
}

Mistake mistake_of(const std::string& text, const std::string& prefix = "/") {
  const auto parsed = parse_command(text, prefix);
  INFO(text);
  REQUIRE(std::holds_alternative<Mistake>(parsed));
  return std::get<Mistake>(parsed);
}

}  // namespace

TEST_CASE("each command is read with what it takes") {
  const auto bisect = command_of(
      "/bisect 1234567..ABCDEF01 workload=dlrm config=cpu-train "
      "metric=time");
  CHECK(bisect.name == CommandName::bisect);
  CHECK(bisect.good == "1234567");
  CHECK(bisect.bad == "abcdef01");
  CHECK(bisect.workload == "dlrm");
  CHECK(bisect.configuration == "cpu-train");
  CHECK(bisect.metric == "time");
  CHECK(command_of("/bisect").name == CommandName::bisect);
  CHECK(command_of("/bisect deadbeef").suspect == "deadbeef");
  CHECK(command_of("/retest").target.empty());
  CHECK(command_of("/retest dlrm/cpu-train").target == "dlrm/cpu-train");
  CHECK(command_of("/ack it is known").reason == "it is known");
  CHECK(command_of("/unack").name == CommandName::unack);
  const auto wrong = command_of("/wrong deadbeef the benchmark changed");
  CHECK(wrong.disputed == "deadbeef");
  CHECK(wrong.reason == "the benchmark changed");
  CHECK(command_of("/wrong the benchmark changed").disputed.empty());
  const auto mute = command_of("/mute dlrm/*/default 14d the price of a fix");
  CHECK(mute.target == "dlrm/*/default");
  CHECK(mute.length == std::chrono::hours(14 * 24));
  CHECK(mute.reason == "the price of a fix");
  CHECK(command_of("/cancel").name == CommandName::cancel);
  CHECK(command_of("/bisect help").name == CommandName::help);
  CHECK(command_of("/help").name == CommandName::help);
}

TEST_CASE("compare takes a commit first, then workloads") {
  const auto plain = command_of("/compare");
  CHECK(plain.name == CommandName::compare);
  CHECK(plain.head.empty());
  CHECK(plain.workloads.empty());
  const auto full = command_of("/compare DEADBEEF01 dlrm resnet18");
  CHECK(full.head == "deadbeef01");
  CHECK(full.workloads == std::vector<std::string>{"dlrm", "resnet18"});
  CHECK(command_of("/compare dlrm").head.empty());
  CHECK_THAT(mistake_of("/compare dlrm preset=full").what, Contains("no options"));
  CHECK(mistake_of("/compare -x").form == "/compare [SHA] [WORKLOAD ...]");
  std::string many = "/compare";
  for (int i = 0; i < 101; ++i) many += " dlrm";
  CHECK_THAT(mistake_of(many).what, Contains("at most 100 workloads"));
  CHECK_THAT(mistake_of("/compair dlrm").what, Contains("did you mean compare?"));
}

TEST_CASE("a command may stand on any line of a paragraph, with either end of line") {
  CHECK(command_of("I looked at it.\r\n/ack known\r\nThank you.").reason == "known");
  CHECK(command_of("First.\n\n  /ack known  \n").reason == "known");
  CHECK(command_of("> said before\n\n/ack known").reason == "known");
  CHECK(command_of("/ack `x` is *slow* in [this](http://example.org)").reason ==
        "x is slow in this");
}

TEST_CASE("nothing that is quoted, code, a link, a heading, a list or HTML counts") {
  for (const auto* text : {"> /ack quoted",
                           "> quoted\n/ack still in the quote",
                           "    /ack indented",
                           "```\n/ack fenced\n```",
                           "~~~sh\n/ack fenced\n~~~",
                           "```\n/ack never closed",
                           "`/ack code`",
                           "`/ack` code",
                           "# /ack heading",
                           "/ack heading\n===",
                           "- /ack item",
                           "1. /ack item",
                           "[/ack](http://example.org) link",
                           "<!-- \n/ack comment\n-->",
                           "<!-- never closed\n/ack",
                           "<div>\n/ack html\n</div>",
                           "**/ack strong**",
                           "\\/ack escaped",
                           "&#47;ack entity",
                           "please /ack inside",
                           "![/ack](x) image",
                           "",
                           "\n\n\n"}) {
    INFO(text);
    CHECK(is_none(parse_command(text, "/")));
  }
}

TEST_CASE("other programs' commands are left to them, and a near miss is explained") {
  CHECK(is_none(parse_command("/easycla", "/")));
  CHECK(is_none(parse_command("/usr/bin/ld: cannot find -lc10", "/")));
  CHECK_THAT(mistake_of("/bisekt deadbeef").what, Contains("did you mean bisect?"));
  CHECK(mistake_of("/bisekt deadbeef").form ==
        "/bisect [SHA | GOOD..BAD] [workload=NAME] [config=NAME] [metric=NAME]");
  CHECK_THAT(mistake_of("@torchwatch dance", "@torchwatch ").what,
             Contains("there is no such command"));
}

TEST_CASE("what is wrong with a command is said, and nothing is guessed") {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"/ack", "the reason is missing"},
           {"/wrong deadbeef", "the reason is missing"},
           {"/unack now", "nothing follows"},
           {"/cancel all", "nothing follows"},
           {"/bisect HEAD~3", "7 to 40 hexadecimal digits"},
           {"/bisect $(reboot)", "7 to 40 hexadecimal digits"},
           {"/bisect 123456", "7 to 40 hexadecimal digits"},
           {"/bisect deadbeef..", "both commits"},
           {"/bisect deadbeef cafebabe", "given twice"},
           {"/bisect workload=dlrm workload=dlrm", "option workload= is given twice"},
           {"/bisect workloads=dlrm", "did you mean workload?"},
           {"/bisect workload=", "has no name"},
           {"/bisect workload=--help", "has no name"},
           {"/retest a b", "one target"},
           {"/mute dlrm 14d", "a reason"},
           {"/mute dlrm 0d because", "1d to 366d"},
           {"/mute dlrm 14 because", "1d to 366d"},
           {"/mute dlrm 99999999999d because", "1d to 366d"}}) {
    INFO(text);
    CHECK_THAT(mistake_of(text).what, Contains(what));
  }
}

TEST_CASE("one command a comment: of two none is carried out") {
  CHECK_THAT(mistake_of("/ack known\n/retest").what, Contains("one command a comment"));
  CHECK_THAT(mistake_of("/ack known\n\ntext\n\n/cancel").what, Contains("one command a comment"));
  CHECK(command_of("> /retest\n\n/ack known").reason == "known");
}

TEST_CASE("the prefix can be another one") {
  CHECK(command_of("@torchwatch ack known", "@torchwatch ").reason == "known");
  CHECK(command_of("/tw-ack known", "/tw-").reason == "known");
  CHECK(is_none(parse_command("/ack known", "/tw-")));
  CHECK(is_none(parse_command("@torchwatches ack known", "@torchwatch ")));
  CHECK(form_of(CommandName::ack, "/tw-") == "/tw-ack REASON");
}
