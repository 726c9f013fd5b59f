#pragma once
// What the outside world can cause (files, devices, peers, users) comes back as a Result and never
// ends the process. What only a bug can cause is a SHARDSCOPE_CHECK (layout/check.hpp).

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace shardscope {

/// Decides the process exit code: usage 1, infeasible 2, runtime 3.
enum class ErrorKind { usage, infeasible, runtime };

/// One failure, told so that a person can act on it.
struct Error {
  ErrorKind kind = ErrorKind::runtime;
  std::string what;      ///< what went wrong, a full sentence without the place
  std::string place;     ///< file:line:column, table, rank or stage; may be empty
  std::string expected;  ///< what would have been accepted; may be empty
  std::string cure;      ///< what to do next; may be empty
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

[[nodiscard]] constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return 1;
    case ErrorKind::infeasible: return 2;
    case ErrorKind::runtime: return 3;
  }
  return 3;
}

/// "place: what (expected ...). Cure." on one line.
[[nodiscard]] std::string to_string(const Error& error);

}  // namespace shardscope
