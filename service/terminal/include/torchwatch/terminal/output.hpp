#pragma once

#include <mutex>
#include <streambuf>
#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::terminal {

/// Writes a stream to an open file of this process, and remembers why that failed, which a standard
/// stream forgets. What is printed is kept until the stream is flushed, so that no result appears
/// between lines of progress. Names, commit subjects and the output of others are a part of what is
/// printed: of control characters only line breaks, tabs and what torchwatch itself writes
/// (colours, the cursor of its progress, links and redrawing with its key) reach the file.
/// Thread-safe.
class Output final : public std::streambuf {
 public:
  /// `key`: of the screen that is written to, random, as text of others must not hold it. It is not
  /// written itself. Empty: what it marks is not written either.
  explicit Output(int descriptor, std::string key = "")
      : descriptor_(descriptor), key_(std::move(key)) {}

  /// Writes what is kept. Returns whether all that was printed has been taken: false when the
  /// reader of a pipe has gone, which needs no message. Errors: unavailable (a full disk, for
  /// example).
  Result<bool> finish();

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  int write_kept();

  int descriptor_;
  const std::string key_;
  std::mutex mutex_;
  int error_ = 0;  ///< errno of the first write that failed
  std::string kept_;
};

}  // namespace torchwatch::terminal
