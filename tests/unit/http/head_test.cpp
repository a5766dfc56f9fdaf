#include "head.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::http;

namespace {

const std::vector<std::string> kProxies{"127.0.0.1", "192.0.2.7"};

Origin at(const std::string& address) {
  return {.address = address, .is_local = is_loopback(address), .user = {}};
}

Origin forwarded(const std::string& peer, const std::string& chain) {
  Head head;
  head.forwarded_for = chain;
  head.is_forwarded = true;
  return origin_of(at(peer), head, kProxies);
}

}  // namespace

TEST_CASE("of a head method, path and credentials are read, whatever the spelling of names") {
  const auto head = read_head(
      "POST /api/v1/nightlies?x=1 HTTP/1.1\r\nHost: a\r\nAUTHORIZATION:  Bearer t \r\n"
      "Content-Length: 2\r\n\r\n{}");
  CHECK(head.method == "POST");
  CHECK(head.target == "/api/v1/nightlies?x=1");
  CHECK(head.path == "/api/v1/nightlies");
  CHECK(head.authorization == "Bearer t");
  CHECK(head.has_body);
  CHECK_FALSE(head.is_forwarded);
}

TEST_CASE("two Authorization headers are none") {
  CHECK(read_head("GET / HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n")
            .authorization.empty());
}

TEST_CASE("a head without a body has none, also where its length is zero") {
  CHECK_FALSE(read_head("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").has_body);
  CHECK(read_head("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").has_body);
}

TEST_CASE("behind trusted proxies the client is the last address that is not another of them") {
  CHECK(forwarded("127.0.0.1", "198.51.100.1").address == "198.51.100.1");
  CHECK(forwarded("127.0.0.1", "10.0.0.1, 198.51.100.1 ,192.0.2.7").address == "198.51.100.1");
  CHECK(forwarded("127.0.0.1", "192.0.2.7").address == "192.0.2.7");
  CHECK(forwarded("127.0.0.1", "::ffff:198.51.100.1").address == "198.51.100.1");
}

TEST_CASE("what anybody else says about forwarding is not believed") {
  CHECK(forwarded("198.51.100.9", "127.0.0.1").address == "198.51.100.9");
  CHECK(forwarded("127.0.0.1", "not an address").address == "127.0.0.1");
  CHECK(forwarded("127.0.0.1", "").address == "127.0.0.1");
}

TEST_CASE("a request is local only if no proxy passed it on") {
  CHECK(origin_of(at("127.0.0.1"), Head{}, {}).is_local);
  CHECK(origin_of(at("::1"), Head{}, {}).is_local);
  CHECK_FALSE(origin_of(at("198.51.100.1"), Head{}, {}).is_local);
  for (const auto* sign :
       {"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 a", "X-Real-IP: ::1"}) {
    const auto head = read_head("GET / HTTP/1.1\r\n" + std::string(sign) + "\r\n\r\n");
    INFO(sign);
    CHECK_FALSE(origin_of(at("127.0.0.1"), head, {}).is_local);
    CHECK_FALSE(origin_of(at("127.0.0.1"), head, kProxies).is_local);
  }
}

TEST_CASE("addresses have one spelling, and an IPv6 client counts by its network") {
  CHECK(plain_address("::ffff:192.0.2.1") == "192.0.2.1");
  CHECK(plain_address("2001:DB8:0::1") == "2001:db8::1");
  CHECK(plain_address("localhost").empty());
  CHECK(counted_as("192.0.2.1") == "192.0.2.1");
  CHECK(counted_as("2001:db8::1") == counted_as("2001:db8::2"));
  CHECK(counted_as("2001:db8::1") != counted_as("2001:db8:0:1::1"));
}

TEST_CASE("that a request came over TLS is believed of a trusted proxy alone") {
  const auto head = read_head("GET / HTTP/1.1\r\nX-Forwarded-Proto: https\r\n\r\n");
  CHECK(origin_of(at("127.0.0.1"), head, kProxies).is_https);
  CHECK_FALSE(origin_of(at("127.0.0.1"), head, {}).is_https);
  CHECK_FALSE(origin_of(at("198.51.100.1"), head, kProxies).is_https);
  const auto plain = read_head("GET / HTTP/1.1\r\nX-Forwarded-Proto: http\r\n\r\n");
  CHECK_FALSE(origin_of(at("127.0.0.1"), plain, kProxies).is_https);
}

TEST_CASE("who takes HTML is a browser") {
  CHECK(read_head("GET / HTTP/1.1\r\nAccept: text/html,*/*;q=0.8\r\n\r\n").wants_page);
  CHECK_FALSE(read_head("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n").wants_page);
  CHECK_FALSE(read_head("GET / HTTP/1.1\r\n\r\n").wants_page);
}
