#include "app/run_again.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

extern char** environ;

namespace shardscope::app {
namespace {

/// Arguments of this process, its name first.
std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < text.size();) {
    arguments.emplace_back(text.c_str() + at);
    at += arguments.back().size() + 1;
  }
  return arguments;
}

Error not_started(int error) {
  return {
      ErrorKind::runtime,
      fmt::format("another process cannot be started: {}", std::generic_category().message(error)),
      "/proc/self/exe", "", ""};
}

}  // namespace

Status run_again(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = own_arguments();
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(not_started(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(not_started(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail({ErrorKind::runtime, "the process that traces did not end well", "--trace-into", "",
               "Its own message stands above; --no-gpu-trace leaves it out"});
}

}  // namespace shardscope::app
