#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A fake GitHub as tests have it: when it ends, everything that it was asked is judged, and what
/// GitHub does not allow fails the test.
template <typename Github>
class Judged final : public Github {
 public:
  using Github::Github;
  Judged(const Judged&) = delete;
  Judged& operator=(const Judged&) = delete;
  ~Judged() {
    const auto violations = Github::violations();
    CHECK(violations == std::vector<std::string>{});
  }
};

}  // namespace torchwatch::test
