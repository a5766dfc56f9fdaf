#include "turn_pipes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace torchwatch::executor {
namespace {

Result<UniqueFd> make_pipe(const std::string& path) {
  UniqueFd pipe;
  if (mkfifo(path.c_str(), 0600) == 0) {
    // For reading as well: a pipe opened for writing alone waits for a reader.
    pipe.reset(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
  if (pipe.is_open()) return pipe;
  return fail(ErrorCode::unavailable,
              "pipe " + path + ": " + std::generic_category().message(errno));
}

}  // namespace

Result<TurnPipes> TurnPipes::create(const std::array<protocol::Turns, 2>& turns) {
  TurnPipes pipes;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    TW_TRY(pipes.own_[i], make_pipe(turns[i].own));
  }
  return pipes;
}

void TurnPipes::tell_ended(std::size_t index) const {
  const char message = protocol::Turns::kEnded;
  // A pipe holds thousands of messages and a run is sent a few dozen at most.
  [[maybe_unused]] const auto written = write(own_[1 - index].get(), &message, 1);
}

}  // namespace torchwatch::executor
