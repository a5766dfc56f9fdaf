#include "torchwatch/channel/fingerprint.hpp"

#include <catch2/catch.hpp>

namespace torchwatch::channel {
namespace {

TEST_CASE("a fingerprint that says more or less of a file is of the same file") {
  const std::string bare = "path=/files/a.whl";
  const std::string whole = "sha256=ab;size=12;time=2026-08-16;path=/files/a.whl";
  for (const auto& [known, offered] : {std::pair{bare, whole},
                                       {whole, bare},
                                       {"size=12;path=/files/a.whl", whole},
                                       {"sha256=ab", whole},
                                       {whole, "path=/other;time=2027;size=12;sha256=ab"},
                                       {"sha512=ab;time=1", "sha512=ab;time=2"},
                                       {"of another form", "of another form"}}) {
    INFO(known << " and " << offered);
    CHECK(is_same_file(known, offered));
  }
}

TEST_CASE("a refused file is the same file, and was refused in one manner") {
  const std::string offered = "sha256=ab;size=12";
  const auto refused = refused_fingerprint(offered, "python3");
  CHECK(is_same_file(refused, offered));
  CHECK(is_same_file(refused_fingerprint("path=/a", "python3"), "path=/a"));
  CHECK_FALSE(is_same_file(refused_fingerprint("path=/a", "python3"), "path=/b"));
  CHECK(was_refused_so(refused, "python3"));
  CHECK_FALSE(was_refused_so(refused, "python3, for CUDA"));
  CHECK_FALSE(was_refused_so(refused, ""));
  CHECK_FALSE(was_refused_so(offered, "python3"));
  CHECK(was_refused_so(joined_fingerprint(refused, "sha256=ab;time=1"), "python3"));
  CHECK(was_refused_so(refused_fingerprint(offered, ""), ""));
  CHECK(refused_fingerprint("", "python3").empty());
}

TEST_CASE("a fingerprint that says something else, or shares nothing, is of another file") {
  const std::string whole = "sha256=ab;size=12;path=/files/a.whl";
  for (const auto& [known, offered] : {std::pair{whole, std::string("sha256=cd;size=12")},
                                       {whole, "size=13;path=/files/a.whl"},
                                       {whole, "path=/files/b.whl"},
                                       {"sha256=ab", "size=12;path=/files/a.whl"},
                                       {whole, ""},
                                       {"sha512=ab;time=1", "sha512=cd;time=1"},
                                       {"sha256=ab;sha512=ab", "sha256=ab;sha512=cd"},
                                       {"of one form", "of another form"}}) {
    INFO(known << " and " << offered);
    CHECK_FALSE(is_same_file(known, offered));
  }
}

TEST_CASE("what is known of a file stays known when the index says less") {
  CHECK(joined_fingerprint("path=/a;size=1", "size=1;sha256=ab") == "path=/a;sha256=ab;size=1");
  CHECK(joined_fingerprint("size=1;path=/a", "path=/a") == "size=1;path=/a");
  CHECK(joined_fingerprint("sha256=ab;time=1", "sha256=ab;time=2") == "sha256=ab;time=2");
  CHECK(joined_fingerprint("of another form", "of another form") == "of another form");
}

}  // namespace
}  // namespace torchwatch::channel
