#include "head.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace torchwatch::http {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_name(std::string_view name, std::string_view wanted) {
  return std::ranges::equal(
      name, wanted, [](unsigned char left, char right) { return std::tolower(left) == right; });
}

/// Removes the first line from `rest` and returns it without its end.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find("\r\n");
  const auto line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

void read_request_line(std::string_view line, Head& head) {
  const auto method_end = line.find(' ');
  head.method = line.substr(0, method_end);
  if (method_end == std::string_view::npos) return;
  const auto target = line.substr(method_end + 1);
  head.target = target.substr(0, target.find(' '));
  head.path = head.target.substr(0, head.target.find('?'));
}

template <std::size_t size>
std::string text_of(int family, const std::array<unsigned char, size>& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr ? "" : text.data();
}

using Bytes = std::array<unsigned char, 16>;
constexpr std::size_t kNetworkBytes = 8;

}  // namespace

Head read_head(std::string_view text) {
  Head head;
  int authorizations = 0;
  read_request_line(take_line(text), head);
  for (auto line = take_line(text); !line.empty(); line = take_line(text)) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    const auto value = colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 1));
    if (is_name(name, "authorization")) {
      head.authorization = ++authorizations == 1 ? value : "";
    } else if (is_name(name, "x-forwarded-for")) {
      head.is_forwarded = true;
      head.forwarded_for += (head.forwarded_for.empty() ? "" : ",") + std::string(value);
    } else if (is_name(name, "x-forwarded-proto")) {
      head.is_https = value == "https";
    } else if (is_name(name, "accept")) {
      head.wants_page = value.find("text/html") != std::string_view::npos;
    } else if (is_name(name, "forwarded") || is_name(name, "x-real-ip") || is_name(name, "via")) {
      head.is_forwarded = true;
    } else if (is_name(name, "transfer-encoding") ||
               (is_name(name, "content-length") && value != "0")) {
      head.has_body = true;
    }
  }
  return head;
}

std::string plain_address(const std::string& text) {
  Bytes bytes{};
  std::array<unsigned char, 4> short_bytes{};
  if (inet_pton(AF_INET, text.c_str(), short_bytes.data()) == 1) return text;
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return "";
  const Bytes mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(bytes.begin(), bytes.begin() + 12, mapped.begin())) {
    return text_of(AF_INET6, bytes);
  }
  std::copy(bytes.begin() + 12, bytes.end(), short_bytes.begin());
  return text_of(AF_INET, short_bytes);
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

std::string counted_as(const std::string& address) {
  Bytes bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), '\0');
  return text_of(AF_INET6, bytes) + "/64";
}

Origin origin_of(const Origin& peer, const Head& head, const std::vector<std::string>& trusted) {
  if (peer.user) return peer;
  const auto is_trusted = [&](const std::string& address) {
    return std::ranges::find(trusted, address) != trusted.end();
  };
  Origin origin{.address = peer.address,
                .is_local = is_loopback(peer.address) && !head.is_forwarded,
                .user = {},
                .is_https = head.is_https && is_trusted(peer.address),
                .wants_page = head.wants_page,
                .target = head.target};
  std::string_view chain = head.forwarded_for;
  // Each proxy appends whom it heard from: the last entries are the ones that can be believed.
  while (is_trusted(origin.address) && !chain.empty()) {
    const auto comma = chain.rfind(',');
    const auto last = comma == std::string_view::npos ? chain : chain.substr(comma + 1);
    const auto address = plain_address(std::string(trimmed(last)));
    if (address.empty()) break;
    origin.address = address;
    chain = comma == std::string_view::npos ? "" : chain.substr(0, comma);
  }
  return origin;
}

}  // namespace torchwatch::http
