#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace torchwatch {

/// Kinds of errors. Few on purpose: each has one HTTP status and one exit status.
enum class ErrorCode {
  invalid,      ///< the caller's input is wrong; the same call never works
  not_found,    ///< the named thing does not exist
  conflict,     ///< another process holds it, or the state has changed
  unavailable,  ///< the environment failed (network, disk, child); may work later
  timed_out,    ///< a limit in time was reached
  cancelled,    ///< asked to stop
  failed,       ///< a child did its work and failed (a compiler error); may be tried again
  corrupt,      ///< stored or received data is damaged
  damaged,      ///< the database itself is damaged: nothing more may be written to it
  internal,     ///< a bug of ours
};

std::string_view to_string(ErrorCode code);

/// An error as a value. `message` says what is wrong and where. Callers put context in front of it
/// ("channel nightlies: build 2.13.0: no lib/libtorch_cpu.so"). Programs get its parts, people get
/// `text()`: whoever shows or stores an error uses that, so that no remedy is lost.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string remedy = {};  ///< what to do about it ("swap the two"); empty where none is known

  /// The same error with `where` in front of its message.
  [[nodiscard]] Error within(std::string_view where) const {
    return Error{code, std::string(where) + ": " + message, remedy};
  }

  /// The same error as one of another kind.
  [[nodiscard]] Error as(ErrorCode other) const { return Error{other, message, remedy}; }

  /// "message; remedy". The remedy has a line of its own where the message has several lines.
  [[nodiscard]] std::string text() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::invalid, "...")` in any function that returns a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(remedy)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace torchwatch

#define TORCHWATCH_CONCAT_(a, b) a##b
#define TORCHWATCH_CONCAT(a, b) TORCHWATCH_CONCAT_(a, b)

// __COUNTER__, because these macros nest in one another's lambdas, where __LINE__ would repeat.

/// Leaves the function with the error of the expression, if it has one.
#define TW_TRY_VOID(...) \
  TW_TRY_VOID_NAMED_(TORCHWATCH_CONCAT(tw_status_, __COUNTER__), (__VA_ARGS__))
#define TW_TRY_VOID_NAMED_(name, expression)                  \
  if (auto name = expression; !name.has_value()) [[unlikely]] \
  return ::torchwatch::fail(std::move(name).error())

/// `TW_TRY(const auto value, expression)`: declares (or assigns) the value or leaves with the
/// error.
#define TW_TRY(declaration, ...) \
  TW_TRY_NAMED_(TORCHWATCH_CONCAT(tw_result_, __COUNTER__), declaration, (__VA_ARGS__))
#define TW_TRY_NAMED_(name, declaration, expression)    \
  auto name = expression;                               \
  if (!name.has_value()) [[unlikely]]                   \
    return ::torchwatch::fail(std::move(name).error()); \
  declaration = std::move(*name)
