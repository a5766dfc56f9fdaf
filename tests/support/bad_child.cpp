// A tiny child that does, in order, what its arguments say; for the tests of child processes.
//
//   print TEXT | error TEXT     to stdout | stderr, with a newline
//   cat PATH | descriptors      prints a file | the number of its open descriptors
//   env NAME | cwd              prints the variable's value | the working folder
//   exit N | signal N           ends like that
//   hang                        sleeps for ever
//   spin                        burns a core for ever
//   ignore-term                 from now on SIGTERM is ignored
//   stop                        stops itself (SIGSTOP)
//   flood                       prints for ever
//   close-output                closes stdout and stderr
//   drop-output                 stdout and stderr become /dev/null
//   allocate MIB                allocates and touches memory
//   fork VERBS... --            a child does the verbs up to the -- (output stays open)
//   daemonise VERBS... --       the same by an orphan that left group and session
//   clean                       executes itself anew for the rest of the line, without environment
//   outlive-main PATH           its main thread ends; another then writes its pid and hangs
//   pid-file PATH               writes its pid, renamed into place
//   wait-file PATH              waits until the file is there
//   late-print TEXT             waits until the first process has ended, then prints
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

const pid_t first_process = getpid();

void nap() {
  usleep(1000);
}

void say(int fd, const std::string& text) {
  const std::string line = text + "\n";
  if (write(fd, line.data(), line.size()) < 0) _exit(99);
}

void hang() {
  for (;;) pause();
}

void spin() {
  for (volatile unsigned long rounds = 0;;) rounds = rounds + 1;
}

void flood() {
  const std::string block(4096, 'x');
  while (write(STDOUT_FILENO, block.data(), block.size()) > 0) {
  }
}

void drop_output() {
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
}

/// Kept to the end of the process, and touched: resident.
void allocate(std::size_t mib) {
  static std::vector<char> kept;
  kept.resize(kept.size() + (mib << 20U), 'x');
}

void write_pid(const std::string& path) {
  const std::string partial = path + ".partial";
  FILE* const file = std::fopen(partial.c_str(), "w");
  if (file == nullptr) _exit(97);
  std::fprintf(file, "%d\n", getpid());
  std::fclose(file);
  std::rename(partial.c_str(), path.c_str());
}

void outlive_main(const std::string& path) {
  std::thread([path] {
    char state = '?';
    for (std::string pid, name; state != 'Z'; nap()) {
      std::ifstream("/proc/self/stat") >> pid >> name >> state;
    }
    write_pid(path);
    hang();
  }).detach();
  syscall(SYS_exit, 0);  // this thread alone
}

void wait_file(const char* path) {
  while (access(path, F_OK) != 0) nap();
}

void late_print(const std::string& text) {
  while (getppid() == first_process) nap();
  say(STDOUT_FILENO, text);
}

void print_environment(const char* name) {
  const char* const value = std::getenv(name);
  say(STDOUT_FILENO, value == nullptr ? "(unset)" : value);
}

void print_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) say(STDOUT_FILENO, line);
}

void count_descriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  const auto count = std::distance(begin(entries), end(entries));
  say(STDOUT_FILENO, std::to_string(count - 1));  // without the folder that is being read
}

void print_folder() {
  char* const folder = getcwd(nullptr, 0);
  say(STDOUT_FILENO, folder == nullptr ? "(none)" : folder);
  std::free(folder);
}

using Words = std::vector<std::string>;
using Operand = const std::string&;

const std::map<std::string, std::function<void()>> kPlainVerbs = {
    {"cwd", print_folder},
    {"descriptors", count_descriptors},
    {"hang", hang},
    {"spin", spin},
    {"ignore-term", [] { signal(SIGTERM, SIG_IGN); }},
    {"stop", [] { raise(SIGSTOP); }},
    {"flood", flood},
    {"close-output", [] { close(STDOUT_FILENO), close(STDERR_FILENO); }},
    {"drop-output", drop_output},
};

const std::map<std::string, std::function<void(Operand)>> kVerbs = {
    {"print", [](Operand text) { say(STDOUT_FILENO, text); }},
    {"error", [](Operand text) { say(STDERR_FILENO, text); }},
    {"env", [](Operand name) { print_environment(name.c_str()); }},
    {"cat", print_file},
    {"exit", [](Operand code) { _exit(std::stoi(code)); }},
    {"signal", [](Operand number) { raise(std::stoi(number)); }},
    {"allocate", [](Operand mib) { allocate(std::stoul(mib)); }},
    {"outlive-main", outlive_main},
    {"pid-file", write_pid},
    {"wait-file", [](Operand path) { wait_file(path.c_str()); }},
    {"late-print", late_print},
};

void perform(const Words& words);

void by_child(const Words& words) {
  if (fork() != 0) return;
  perform(words);
  _exit(0);
}

void by_orphan(const Words& words) {
  if (fork() != 0) return;
  setsid();
  by_child(words);
  _exit(0);
}

/// Executes this program anew, so that not even /proc shows the old environment.
void clean(Words words) {
  std::string name = "bad_child";
  std::vector<char*> argv{name.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char* const nothing[] = {nullptr};
  execve("/proc/self/exe", argv.data(), nothing);
  _exit(96);
}

/// The "--" that belongs to the fork at `word`: parts may be nested.
Words::const_iterator end_of_part(Words::const_iterator word, Words::const_iterator end) {
  int depth = 0;
  for (; word != end; ++word) {
    if (*word == "fork" || *word == "daemonise") ++depth;
    if (*word == "--" && --depth == 0) return word;
  }
  return end;
}

void perform(const Words& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "fork" || *word == "daemonise") {
      const auto end = end_of_part(word, words.end());
      const Words part(word + 1, end);
      *word == "fork" ? by_child(part) : by_orphan(part);
      word = end == words.end() ? end - 1 : end;
    } else if (*word == "clean") {
      clean(Words(word + 1, words.end()));
    } else if (const auto plain = kPlainVerbs.find(*word); plain != kPlainVerbs.end()) {
      plain->second();
    } else if (const auto verb = kVerbs.find(*word);
               verb != kVerbs.end() && word + 1 != words.end()) {
      verb->second(*++word);
    } else {
      say(STDERR_FILENO, "bad_child: unknown verb or no operand: " + *word);
      _exit(95);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  perform(Words(argv + 1, argv + argc));
  return 0;
}
