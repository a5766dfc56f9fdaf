#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const auto kStop = [] { return fail(ErrorCode::cancelled, "stop"); };

struct Transactions : FreshStores {
  Database& database = *stores.database;

  Status discover(const std::string& name) {
    TW_TRY_VOID(stores.builds.discover(BuildOrigin::nightly, name));
    return {};
  }
  std::size_t builds() { return stores.builds.list().value().size(); }
};

}  // namespace

TEST_CASE_METHOD(Transactions, "store calls inside a transaction are kept together or not at all") {
  REQUIRE(database.transact([&]() -> Status {
    TW_TRY_VOID(discover("a"));
    return discover("b");
  }));
  REQUIRE(builds() == 2);
  const auto stopped = database.transact([&]() -> Status {
    TW_TRY_VOID(discover("c"));
    return kStop();
  });
  REQUIRE(stopped.error().message == "stop");
  REQUIRE(builds() == 2);
}

TEST_CASE_METHOD(Transactions, "a nested transaction is part of the outer one") {
  const auto stopped = database.transact([&]() -> Status {
    TW_TRY_VOID(database.transact([&] { return discover("a"); }));
    return kStop();
  });
  REQUIRE_FALSE(stopped);
  REQUIRE(builds() == 0);
}

TEST_CASE_METHOD(Transactions, "a nested failure that changed nothing may be handled") {
  const auto ready = ready_build(stores.builds, "a", "h");
  REQUIRE(database.transact([&]() -> Status {
    REQUIRE_FALSE(stores.builds.reject(ready.id, "why"));
    return discover("b");
  }));
  REQUIRE(builds() == 2);
}

TEST_CASE_METHOD(Transactions, "a nested failure after a change cannot be overlooked") {
  const auto outcome = database.transact([&]() -> Status {
    REQUIRE_FALSE(database.transact([&]() -> Status {
      TW_TRY_VOID(discover("a"));
      return kStop();
    }));
    return discover("b");
  });
  REQUIRE(outcome.error().message == "stop");
  REQUIRE(builds() == 0);
}

TEST_CASE_METHOD(Transactions, "an exception through a transaction rolls it back") {
  REQUIRE_THROWS_AS(database.transact([&]() -> Status {
    REQUIRE(discover("a"));
    throw std::runtime_error("not ours");
  }),
                    std::runtime_error);
  REQUIRE(builds() == 0);
  REQUIRE(discover("b"));
  REQUIRE(builds() == 1);
}

TEST_CASE_METHOD(Transactions, "threads write one after the other") {
  const auto insert = [&](const std::string& name) {
    for (int i = 0; i < 20; ++i) {
      if (!database.transact([&] { return discover(name + std::to_string(i)); })) std::abort();
    }
  };
  std::thread other(insert, "a");
  insert("b");
  other.join();
  REQUIRE(builds() == 40);
}
