#include "app/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "app/console.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

void reserve_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number, which is this one; opened the wrong way round, so that using it
    // fails.
    [[maybe_unused]] const int taken =
        ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int finish_output(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const char* reason = errno != 0 ? std::strerror(errno) : "a write failed";
  if (flushed && std::ferror(stdout) == 0) return code;
  const Error error{ErrorKind::runtime, std::string("the output is incomplete: ") + reason,
                    "standard output", "", ""};
  print_error(error);
  return exit_code(error.kind);
}

}  // namespace shardscope::app
