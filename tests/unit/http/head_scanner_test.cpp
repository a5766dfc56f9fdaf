#include "head_scanner.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

using torchwatch::http::ChunkScanner;
using torchwatch::http::HeadScanner;
using Scan = HeadScanner::Scan;

namespace {
Scan scan(const std::string& head) {
  HeadScanner scanner;
  for (const char byte : head) {
    if (const auto finding = scanner.see(byte); finding != Scan::fine) return finding;
  }
  return Scan::fine;
}

bool are_chunks(const std::string& body) {
  ChunkScanner scanner;
  return std::ranges::all_of(body, [&](char byte) { return scanner.see(byte); });
}
}  // namespace

TEST_CASE("an ordinary head passes") {
  CHECK(scan("GET / HTTP/1.1\r\nHost: x\r\nEmpty:\r\n\r\n") == Scan::fine);
}

TEST_CASE("what two readers could understand differently is malformed") {
  CHECK(scan("GET / HTTP/1.1\nHost: x\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\nA: b\rC: d\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\nA: b\r\n folded: c\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\nno colon\r\n") == Scan::malformed);
  CHECK(scan(std::string("GET / HTTP/1.1\r\nA: \0b\r\n", 23)) == Scan::malformed);
  CHECK(scan("\r\nGET / HTTP/1.1\r\n") == Scan::malformed);
}

TEST_CASE("what the library would decode, but nobody encodes, is malformed") {
  CHECK(scan("GET /%41 HTTP/1.1\r\nX: %41\r\n") == Scan::fine);
  CHECK(scan("GET / HTTP/1.1\r\nContent-Length: %35\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\ntransfer-encoding: chunke%64\r\n") == Scan::malformed);
  CHECK(scan("GET / HTTP/1.1\r\nHOST: %6cocalhost\r\n") == Scan::malformed);
}

TEST_CASE("a range that a regular expression would choke on is malformed") {
  CHECK(scan("GET / HTTP/1.1\r\nRange: bytes=0-1\r\n") == Scan::fine);
  CHECK(scan("GET / HTTP/1.1\r\nRange: bytes=" + std::string(4000, '0')) == Scan::malformed);
}

TEST_CASE("a hundred lines are a head, more are a flood") {
  std::string head = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 99; ++i) head += "A: b\r\n";
  CHECK(scan(head) == Scan::fine);
  CHECK(scan(head + "A: b\r\n") == Scan::too_many_lines);
}

TEST_CASE("the chunks of a body pass, whatever they hold") {
  CHECK(are_chunks("5\r\nhello\r\n1;name=\"x\"\r\n\n\r\n0\r\n\r\n"));
  CHECK(are_chunks("0000000000000002\r\n-5\r\n00\r\n\r\n"));
  CHECK(are_chunks("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"));
}

TEST_CASE("a chunk whose size two readers could understand differently is malformed") {
  for (const char* size :
       {"-5", "+2", "0x2", "", " 2", "2 ", "2\n", "2;a\rb", "g", ";a", "00000000000000002"}) {
    INFO(size);
    CHECK_FALSE(are_chunks(std::string(size) + "\r\n{}\r\n0\r\n\r\n"));
  }
  CHECK_FALSE(are_chunks("2\r\n{}+\r\n0\r\n\r\n"));
  CHECK_FALSE(are_chunks("2\r\n{}\n0\r\n\r\n"));
  CHECK_FALSE(are_chunks("0\r\nAuthorization: Bearer x\r\n\r\n"));
}
