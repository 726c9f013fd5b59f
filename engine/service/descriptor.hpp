#pragma once
// Owner of a file descriptor.

#include <unistd.h>

#include <utility>

namespace shardscope::service {

/// Move-only; closes on destruction. -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] explicit operator bool() const { return value_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }
  void reset(int value = -1) {
    const int old = std::exchange(value_, value);
    if (old >= 0) ::close(old);
  }

 private:
  int value_ = -1;
};

}  // namespace shardscope::service
