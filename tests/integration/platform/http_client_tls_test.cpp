#include <openssl/evp.h>
#include <openssl/x509.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include "local_server.hpp"
#include "torchwatch/platform/http_client.hpp"

using namespace torchwatch;

namespace {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;
using Certificate = std::unique_ptr<X509, CertificateDeleter>;

Certificate self_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const auto* const text = reinterpret_cast<const unsigned char*>("127.0.0.1");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

}  // namespace

TEST_CASE("a server whose certificate nobody vouches for gets no request") {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = self_signed(key.get());
  httplib::SSLServer server(certificate.get(), key.get());
  REQUIRE(server.is_valid());
  std::atomic<int> requests = 0;
  server.Get("/", [&requests](const httplib::Request&, httplib::Response&) { ++requests; });
  const test::LocalServer local(server);
  platform::HttpRequest request;
  request.url = local.url("/", "https");
  request.headers = {{"Authorization", "Bearer secret"}};
  const auto response = platform::make_http_client("torchwatch-test")->send(request);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::unavailable);
  CHECK(response.error().message.find("TLS") != std::string::npos);
  CHECK(requests == 0);
}
