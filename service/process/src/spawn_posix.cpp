#include "spawn_posix.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "process_table_posix.hpp"

namespace torchwatch::process {
namespace {

namespace fs = std::filesystem;

constexpr int kExecLimitMs = 10'000;  ///< a program on a file system that hangs
constexpr int kHighestPriority = -20;

enum class Step { group, parent, standard_streams, folder, cpus, execute };

constexpr const char* kStepNames[] = {"process group",    "parent ended meanwhile",
                                      "standard streams", "working folder",
                                      "pinning",          "execute"};

/// What the child reports over a pipe when it cannot become the program.
struct Failure {
  Step step = Step::execute;
  int error = 0;
};

/// Everything the child needs, made before the fork: between fork and exec nothing may allocate.
struct Execution {
  std::string program;
  std::string folder;
  std::vector<std::string> words;  ///< arguments, then environment
  std::vector<char*> argv;
  std::vector<char*> envp;
  cpu_set_t cpus{};
  bool is_pinned = false;
  bool own_session = false;
  bool raise_priority = false;
  pid_t parent = 0;
  int output = -1;
  int report = -1;
  int status = -1;  ///< open with a launcher
  int input = -1;   ///< open where the child is given something to read
};

std::string program_of(const ProcessSpec& spec) {
  const std::string name = spec.program.string();
  if (name.find('/') != std::string::npos) return name;
  const auto path = spec.environment.find("PATH");
  auto found =
      find_program(name, path == spec.environment.end() ? kDefaultSearchPath : path->second);
  return found.empty() ? name : found;  // execve then reports that it does not exist
}

std::map<std::string, std::string> full_environment(const ProcessSpec& spec,
                                                    const std::string& owner,
                                                    const ProcessTag& tag) {
  auto environment = spec.environment;
  environment[std::string(kOwnerVariable)] = owner;
  environment[std::string(kRunVariable)] = to_string(tag);
  if (!spec.label.empty()) environment[std::string(kAttemptVariable)] = spec.label;
  return environment;
}

void point_at(std::vector<std::string>& words, Execution& plan, std::size_t arguments) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    (i < arguments ? plan.argv : plan.envp).push_back(words[i].data());
  }
  plan.argv.push_back(nullptr);
  plan.envp.push_back(nullptr);
}

Execution make_plan(const ProcessSpec& spec, const std::string& owner, const ProcessTag& tag) {
  Execution plan;
  const bool is_launched = !spec.launcher.empty();
  plan.program = is_launched ? spec.launcher.front() : program_of(spec);
  plan.folder = spec.working_folder.string();
  plan.words = spec.launcher;
  plan.words.push_back(is_launched ? program_of(spec) : spec.program.string());
  plan.words.insert(plan.words.end(), spec.arguments.begin(), spec.arguments.end());
  const std::size_t arguments = plan.words.size();
  for (const auto& [name, value] : full_environment(spec, owner, tag)) {
    plan.words.push_back(name + "=" + value);
  }
  point_at(plan.words, plan, arguments);
  CPU_ZERO(&plan.cpus);
  for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &plan.cpus);
  plan.is_pinned = !spec.cpus.empty();
  plan.own_session = spec.own_session || is_launched;
  plan.raise_priority = spec.raise_priority;
  plan.parent = getpid();
  return plan;
}

// From here to become_program: in the child, async-signal-safe calls only.

[[noreturn]] void report_and_exit(const Execution& plan, Step step) {
  const Failure failure{.step = step, .error = errno};
  [[maybe_unused]] const ssize_t sent = write(plan.report, &failure, sizeof(failure));
  _exit(127);
}

void write_own(const char* path, std::string_view text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  [[maybe_unused]] const ssize_t written = fd < 0 ? 0 : write(fd, text.data(), text.size());
  if (fd >= 0) close(fd);
}

void connect_standard_streams(const Execution& plan) {
  const int input = plan.input >= 0 ? plan.input : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(plan.output, STDOUT_FILENO) < 0 ||
      dup2(plan.output, STDERR_FILENO) < 0) {
    report_and_exit(plan, Step::standard_streams);
  }
}

void reset_signals() {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

/// Again while the file is busy: a program written a moment ago is still open for writing in
/// children that other threads forked meanwhile, until they execute.
void execute(const Execution& plan) {
  constexpr int kTries = 100;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < kTries; ++i) {
    execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
    if (errno != ETXTBSY) return;
    nanosleep(&kPause, nullptr);
  }
}

/// Refused to a process without the right to it, which then runs at plain priority.
void raise_own_priority(const Execution& plan) {
  if (setpriority(PRIO_PROCESS, 0, kHighestPriority) != 0) return;
  if (plan.own_session) write_own("/proc/self/autogroup", "-20");
}

[[noreturn]] void become_program(const Execution& plan) {
  const bool is_leader = plan.own_session ? setsid() >= 0 : setpgid(0, 0) == 0;
  if (!is_leader) report_and_exit(plan, Step::group);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) report_and_exit(plan, Step::parent);  // it died before the prctl
  connect_standard_streams(plan);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  write_own("/proc/self/oom_score_adj", "1000");  // out of memory, it is killed before the daemon
  if (plan.raise_priority) raise_own_priority(plan);
  if (plan.is_pinned && sched_setaffinity(0, sizeof(plan.cpus), &plan.cpus) != 0) {
    report_and_exit(plan, Step::cpus);
  }
  if (!plan.folder.empty() && chdir(plan.folder.c_str()) != 0) report_and_exit(plan, Step::folder);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (plan.status >= 0 && dup2(plan.status, kLauncherStatus) < 0) {
    report_and_exit(plan, Step::standard_streams);
  }
  reset_signals();
  execute(plan);
  report_and_exit(plan, Step::execute);
}

// In the parent again. It need not set the group as well: the group is used after exec only.

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

/// Both ends above the descriptors that the child replaces.
UniqueFd above_replaced_ones(int fd) {
  if (fd > kLauncherStatus) return UniqueFd(fd);
  const UniqueFd low(fd);
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, kLauncherStatus + 1));
}

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {.read_end = above_replaced_ones(ends[0]), .write_end = above_replaced_ones(ends[1])};
}

/// The text as a file that is in memory alone; closed where that cannot be had.
UniqueFd make_input(const std::string& text) {
  UniqueFd file = above_replaced_ones(memfd_create("input", MFD_CLOEXEC));
  std::size_t written = 0;
  while (file.is_open() && written < text.size()) {
    const auto got = write(file.get(), text.data() + written, text.size() - written);
    if (got <= 0) return {};
    written += static_cast<std::size_t>(got);
  }
  if (file.is_open() && lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

pid_t fork_with_signals_blocked(const Execution& plan) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) become_program(plan);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

std::string explain(const Failure& failure, const std::string& program) {
  const char* const step = kStepNames[static_cast<std::size_t>(failure.step)];
  const char* const name = strerrorname_np(failure.error);
  return program + ": " + step + ": " + (name == nullptr ? "error" : name) + " (" +
         std::strerror(failure.error) + ")";
}

/// Empty when the program runs: exec closes the pipe unwritten.
std::string wait_for_exec(const UniqueFd& report, const std::string& program) {
  pollfd readable{.fd = report.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&readable, 1, kExecLimitMs);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return program + ": not started within 10 s (does its file system hang?)";
  Failure failure;
  const ssize_t got = read(report.get(), &failure, sizeof(failure));
  if (got == static_cast<ssize_t>(sizeof(failure))) return explain(failure, program);
  return {};
}

/// The child has not become the program; it is at its end or stuck in exec.
void discard(pid_t pid) {
  kill(pid, SIGKILL);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && waitpid(pid, nullptr, WNOHANG) == 0; ++i) usleep(1000);
}

}  // namespace

tl::expected<SpawnedChild, std::string> spawn(const ProcessSpec& spec, const std::string& owner,
                                              const ProcessTag& tag) {
  Execution plan = make_plan(spec, owner, tag);
  Pipe output = make_pipe();
  Pipe report = make_pipe();
  Pipe status = spec.launcher.empty() ? Pipe{} : make_pipe();
  const bool has_status = spec.launcher.empty() || status.write_end.is_open();
  if (!output.write_end.is_open() || !report.write_end.is_open() || !has_status) {
    return tl::unexpected(std::string("no pipe: ") + std::strerror(errno));
  }
  const UniqueFd input = spec.input.empty() ? UniqueFd() : make_input(spec.input);
  if (!spec.input.empty() && !input.is_open()) {
    return tl::unexpected(std::string("no memory for its input: ") + std::strerror(errno));
  }
  plan.input = input.is_open() ? input.get() : spec.input_descriptor;
  plan.output = output.write_end.get();
  plan.report = report.write_end.get();
  plan.status = status.write_end.get();
  const pid_t pid = fork_with_signals_blocked(plan);
  if (pid < 0) return tl::unexpected(std::string("fork: ") + std::strerror(errno));
  report.write_end.reset();
  std::string failure = wait_for_exec(report.read_end, plan.program);
  SpawnedChild child{.pid = pid,
                     .process = open_process(pid),
                     .output = std::move(output.read_end),
                     .status = std::move(status.read_end)};
  if (failure.empty() && !child.process.is_open()) {
    failure = std::string("pidfd: ") + std::strerror(errno);
  }
  if (!failure.empty()) {
    discard(pid);
    return tl::unexpected(failure);
  }
  fcntl(child.output.get(), F_SETFL, O_NONBLOCK);
  if (child.status.is_open()) fcntl(child.status.get(), F_SETFL, O_NONBLOCK);
  return child;
}

}  // namespace torchwatch::process
