#pragma once

#include <chrono>
#include <map>
#include <string>

namespace torchwatch::test {

/// What goes wrong with one request. `done` says whether GitHub did what was asked before.
struct Fault {
  enum class Kind {
    status,  ///< answers `status` with `headers`
    hang,    ///< answers nothing until the client gives up or the fake ends
    cut,     ///< begins an answer and closes the connection in the middle
    slow     ///< answers after `delay` of the fake's clock
  };
  std::string method = "POST";
  Kind kind = Kind::status;
  bool done = false;
  int status = 502;
  std::multimap<std::string, std::string> headers{};
  std::string message = "a planted failure";
  std::chrono::milliseconds delay{0};
  std::string path_part{};  ///< only requests whose path holds it
};

}  // namespace torchwatch::test
