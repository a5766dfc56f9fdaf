#pragma once

#include <chrono>
#include <string>

#include "admission.hpp"
#include "head.hpp"
#include "head_scanner.hpp"

namespace torchwatch::http {

/// An admitted connection. The reception has it between requests, a worker during one.
struct Client {
  using Clock = std::chrono::steady_clock;

  Client(Admission::Connection admitted, Origin from, int requests)
      : connection(std::move(admitted)), peer(std::move(from)), requests_left(requests) {}

  Admission::Connection connection;
  Origin peer;            ///< who is at the other end, a proxy perhaps
  Origin origin{};        ///< who sent the request at hand
  int requests_left = 0;  ///< that this connection may still send
  std::string arrived{};  ///< and not yet served: a head, or a part of one
  HeadScanner scanner{};  ///< has seen this head's first `scanned` bytes
  std::size_t scanned = 0;
  std::string unsent{};          ///< the rest of the last answer
  bool is_last = false;          ///< close once `unsent` is sent
  bool is_watched = false;       ///< `epoll` tells of it
  bool is_resting = false;       ///< has asked too much: nothing is read from it until the deadline
  Clock::time_point deadline{};  ///< of what it is doing now
};

}  // namespace torchwatch::http
