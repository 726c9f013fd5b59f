#include "engine/service/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace shardscope::service {
namespace {

constexpr std::chrono::milliseconds kPoll{5};
constexpr int kCouldNotRun = 127;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Error start_error(const std::string& program, const char* what, int code) {
  return {ErrorKind::runtime, fmt::format("{}: {}", what, std::strerror(code)), program, "",
          "Check that the program is installed and may be run"};
}

Result<Pipe> make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(start_error(program, "no pipe", errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child, between fork and exec: only calls that a signal handler may make.
[[noreturn]] void become(char* const* arguments, int input, int output, int errors, int report,
                         bool dies_with_parent, pid_t parent) {
  if (dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCouldNotRun);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  const int code = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &code, sizeof code);
  ::_exit(kCouldNotRun);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments,
                                         ChildErrors errors, bool dies_with_us) {
  const std::string& program = arguments.at(0);
  Pipe pipes[4];  // input, output, errors, the child's report that it could not run
  for (Pipe& pipe : pipes) {
    Result<Pipe> made = make_pipe(program);
    if (!made) return fail(made.error());
    pipe = std::move(*made);
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  const bool piped = errors == ChildErrors::piped;
  const pid_t parent = ::getpid();
  ChildProcess child;
  child.pid_ = ::fork();
  if (child.pid_ < 0) return fail(start_error(program, "no new process", errno));
  if (child.pid_ == 0) {
    become(pointers.data(), pipes[0].read.get(), pipes[1].write.get(),
           piped ? pipes[2].write.get() : -1, pipes[3].write.get(), dies_with_us, parent);
  }
  pipes[3].write.reset();
  int code = 0;
  ssize_t got = 0;
  do {
    got = ::read(pipes[3].read.get(), &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof code)) {
    return fail(start_error(program, "cannot be run", code));
  }
  child.input_ = std::move(pipes[0].write);
  child.output_ = std::move(pipes[1].read);
  if (piped) child.errors_ = std::move(pipes[2].read);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_(std::move(other.end_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(end_, other.end_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(errors_, other.errors_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<std::string> ChildProcess::ended(std::chrono::milliseconds wait) {
  if (pid_ < 0) return end_;
  const auto until = std::chrono::steady_clock::now() + wait;
  while (true) {
    int status = 0;
    const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
    if (reaped == pid_) {
      pid_ = -1;
      end_ = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                 : fmt::format("exit code {}", WEXITSTATUS(status));
      return end_;
    }
    if (reaped < 0 && errno != EINTR) {
      pid_ = -1;
      end_ = "an unknown end";
      return end_;
    }
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(kPoll);
  }
}

void ChildProcess::kill(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

}  // namespace shardscope::service
