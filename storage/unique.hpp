#pragma once
// Owner of one handle: closes it when it goes out of scope.

#include <utility>

namespace shardscope::storage {

/// Move-only. `Close` is called once with every value but `Null`.
///   using Statement = Unique<sqlite3_stmt*, sqlite3_finalize, nullptr>;
template <class T, auto Close, T Null>
class Unique {
 public:
  Unique() = default;
  explicit Unique(T value) : value_(value) {}
  Unique(Unique&& other) noexcept : value_(other.release()) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Unique(const Unique&) = delete;
  Unique& operator=(const Unique&) = delete;
  ~Unique() { reset(); }

  [[nodiscard]] T get() const { return value_; }
  [[nodiscard]] explicit operator bool() const { return value_ != Null; }
  /// Gives the handle away; the caller closes it.
  [[nodiscard]] T release() { return std::exchange(value_, Null); }
  void reset(T value = Null) {
    const T old = std::exchange(value_, value);
    if (old != Null) static_cast<void>(Close(old));
  }

 private:
  T value_ = Null;
};

}  // namespace shardscope::storage
