#pragma once

#include <mutex>
#include <streambuf>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::terminal {

/// Writes a stream to an open file of this process, and remembers why that failed, which a standard
/// stream forgets. What is printed is kept until the stream is flushed, so that no result appears
/// between lines of progress. Names, commit subjects and the output of others are a part of what is
/// printed: of control characters only line breaks, tabs and what torchwatch itself writes
/// (colours, the cursor of its progress) reach the file. Thread-safe.
class Output final : public std::streambuf {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  /// Writes what is kept. Returns whether all that was printed has been taken: false when the reader
  /// of a pipe has gone, which needs no message. Errors: unavailable (a full disk, for example).
  Result<bool> finish();

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  int write_kept();

  int descriptor_;
  std::mutex mutex_;
  int error_ = 0;  ///< errno of the first write that failed
  std::string kept_;
};

}  // namespace torchwatch::terminal
