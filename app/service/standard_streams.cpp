#include "app/service/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shardscope::app {
namespace {

Error stream_error(const char* what) {
  return {ErrorKind::runtime, fmt::format("{}: {}", what, std::strerror(errno)), "standard streams",
          "", ""};
}

}  // namespace

Result<StandardStreams> take_standard_streams() {
  if (::isatty(STDOUT_FILENO) != 0) {
    return fail({ErrorKind::usage, "standard output is a terminal", "serve",
                 "a program at the other end", "Start shardscope-gui, which starts this itself"});
  }
  StandardStreams streams;
  streams.in.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  streams.out.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!streams.in || !streams.out) return fail(stream_error("cannot be kept"));
  const service::Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null || ::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return fail(stream_error("cannot be moved"));
  }
  return streams;
}

}  // namespace shardscope::app
