#include "request_body.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/records/vocabulary.hpp"

using namespace torchwatch;
using namespace torchwatch::api;

TEST_CASE("a body is an object with known members") {
  CHECK(parse_object(R"({"candidate": "b"})", {"candidate", "baseline"}));
  CHECK(parse_object("{}", {}));
  for (const auto* body : {"", "[]", "null", "3", "{", R"({"candidate": 1} x)"}) {
    INFO(body);
    CHECK(parse_object(body, {"candidate"}).error().code == ErrorCode::invalid);
  }
  CHECK(parse_object(R"({"candidat": "b"})", {"candidate", "baseline"}).error().message ==
        "member \"candidat\" is not known; allowed: candidate, baseline");
}

TEST_CASE("a body nested a million levels deep is refused before it is built") {
  const std::string deep = R"({"a":)" + std::string(1'000'000, '[');
  CHECK(parse_object(deep, {"a"}).error().message.find("nested deeper") != std::string::npos);
}

TEST_CASE("a name holds nothing that a program or a shell could take for something else") {
  const auto check = [](const nlohmann::json& value) {
    return name_member(nlohmann::json{{"good", value}}, "good").has_value();
  };
  CHECK(check("viable/strict~3"));
  CHECK(check("2.14.0.dev20260817"));
  CHECK_FALSE(check(""));
  CHECK_FALSE(check("--output=/etc/passwd"));
  CHECK_FALSE(check("a b"));
  CHECK_FALSE(check("a\n"));
  CHECK_FALSE(check(std::string(201, 'a')));
  CHECK_FALSE(check(7));
  CHECK(name_member(nlohmann::json::object(), "good").value().empty());
}

TEST_CASE("a word of the vocabulary is checked by it") {
  const nlohmann::json object{{"device", "tpu"}, {"mode", "train"}};
  CHECK(word_member(object, "mode", parse_mode));
  CHECK(word_member(object, "device", parse_device).error().message.find("allowed: cpu, cuda") !=
        std::string::npos);
}

TEST_CASE("names are a short list of names") {
  const auto check = [](const nlohmann::json& value) {
    return names_member(nlohmann::json{{"workloads", value}}, "workloads").has_value();
  };
  CHECK(check({"resnet18", "dlrm"}));
  CHECK_FALSE(check("resnet18"));
  CHECK_FALSE(check({"resnet18", ""}));
  CHECK_FALSE(check(nlohmann::json(std::vector<std::string>(101, "x"))));
}

TEST_CASE("a text for people has blanks and line breaks, no escapes, and an end") {
  const auto check = [](const nlohmann::json& value) {
    return text_member(nlohmann::json{{"reason", value}}, "reason", 20).has_value();
  };
  CHECK(check("the price\n\tof a fix"));
  CHECK(check("größer"));
  CHECK(check("zwanzig große Größen"));  // characters count, not bytes
  CHECK_FALSE(check(""));
  CHECK_FALSE(check("\x1b[31m"));
  CHECK_FALSE(check("a\rb"));
  CHECK_FALSE(check(std::string(21, 'a')));
  CHECK_FALSE(check(7));
  CHECK(text_member(nlohmann::json::object(), "reason", 20).value().empty());
}

TEST_CASE("a build may have any name that a folder has, but one that looks like an option") {
  const auto check = [](const nlohmann::json& value) {
    return build_member(nlohmann::json{{"candidate", value}}, "candidate").has_value();
  };
  CHECK(check("2.14.0.dev20260817"));
  CHECK(check("/home/ada/blank dir/ünï"));
  CHECK(check("/" + std::string(300, 'a')));
  CHECK_FALSE(check(""));
  CHECK_FALSE(check("--output=/etc/passwd"));
  CHECK_FALSE(check("/a\nb"));
  CHECK_FALSE(check("/a\tb"));
  CHECK_FALSE(check("/a\x1b[31m"));
  CHECK_FALSE(check(std::string(4'097, 'a')));
  CHECK_FALSE(check(7));
  CHECK(build_member(nlohmann::json::object(), "candidate").value().empty());
}
