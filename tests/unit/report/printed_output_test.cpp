#include "torchwatch/report/printed_output.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::report;
using Lines = std::vector<std::string>;

TEST_CASE("the last lines of an output are those with something on them, at most twenty") {
  CHECK(last_lines("").empty());
  CHECK(last_lines("one\n\n \t\r\ntwo") == Lines{"one", "two"});
  std::string long_output;
  for (int i = 1; i <= 50; ++i) long_output += std::to_string(i) + "\n";
  const auto lines = last_lines(long_output);
  CHECK(lines.size() == 20);
  CHECK(lines.front() == "31");
  CHECK(lines.back() == "50");
}

TEST_CASE("an output tells no folder of the machine, and keeps the names of files") {
  CHECK(last_lines("at \"/srv/pytorch/aten/Linear.cpp\":12, in /opt/lib/libc10.so)") ==
        Lines{"at \"…/Linear.cpp\":12, in …/libc10.so)"});
  CHECK(last_lines("HOME=/home/ada.l -I/home/ada.l /root") == Lines{"HOME=… … …"});
  CHECK(last_lines("https://host.example/a/b") == Lines{"https:…"});
  CHECK(last_lines("aten/src/ATen/native/Linear.cpp") == Lines{"…/Linear.cpp"});
  CHECK(last_lines("1/2 of a+b / c, and/or") == Lines{"1/2 of a+b / c, and/or"});
}

TEST_CASE("an output tells no secret, neither a known one nor what looks like one") {
  const std::vector<std::string> secrets{"swordfish", ""};
  CHECK(last_lines("it is swordfish, token=ghp_0123456789abcdef0123", secrets) ==
        Lines{"it is [redacted], token=[redacted]"});
}
