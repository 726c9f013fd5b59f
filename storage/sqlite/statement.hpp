#pragma once
// A prepared statement: bind, step, read columns.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "layout/result.hpp"
#include "storage/sqlite/handles.hpp"

namespace shardscope::storage {

/// Belongs to one Database, which must outlive it. Parameters and columns count from 0.
class Statement {
 public:
  Statement() = default;
  Statement(StatementHandle handle, std::string place)
      : handle_(std::move(handle)), place_(std::move(place)) {}

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::int32_t value) { bind(parameter, std::int64_t{value}); }
  void bind(int parameter, std::uint32_t value) { bind(parameter, std::int64_t{value}); }
  void bind(int parameter, bool value) { bind(parameter, std::int64_t{value}); }
  void bind(int parameter, double value);  ///< NaN becomes NULL
  void bind(int parameter, std::string_view value);
  void bind(int parameter, const std::string& value) { bind(parameter, std::string_view(value)); }
  void bind(int parameter, const char* value) { bind(parameter, std::string_view(value)); }
  void bind(int parameter, std::nullptr_t);
  template <class T>
  void bind(int parameter, const std::optional<T>& value) {
    if (value) {
      bind(parameter, *value);
    } else {
      bind(parameter, nullptr);
    }
  }
  /// Column `column` of the row that `from` stands on, whatever its type.
  void bind_column(int parameter, const Statement& from, int column);
  template <class... Values>
  void bind_all(const Values&... values) {
    int parameter = 0;
    (bind(parameter++, values), ...);
  }

  /// True: a row can be read. False: done, and the statement is reset.
  [[nodiscard]] Result<bool> step();
  /// Binds, runs to the end and resets: for statements whose rows nobody reads.
  template <class... Values>
  [[nodiscard]] Status run(const Values&... values) {
    bind_all(values...);
    return run_bound();
  }
  void reset();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::int32_t integer32(int column) const;  ///< limited to the type's range
  [[nodiscard]] double real(int column) const;             ///< NULL becomes NaN
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  [[nodiscard]] Status run_bound();
  [[nodiscard]] tl::unexpected<Error> failed(int code);

  StatementHandle handle_;
  std::string place_;
};

}  // namespace shardscope::storage
