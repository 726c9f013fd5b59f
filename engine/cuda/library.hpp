#pragma once
// A shared library opened when it is first needed, and its functions.

#include <string>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// Stays open for the process' life: libraries of CUDA cannot be unloaded.
class Library {
 public:
  /// The first of the names that can be opened; `purpose` ("all-to-all between GPUs") stands in the
  /// error, `cure` behind it.
  [[nodiscard]] static Result<Library> open(const std::vector<std::string>& names,
                                            const std::string& purpose, const std::string& cure);

  /// Fills a function pointer; an error naming the library and the function if it is not there.
  template <class Function>
  [[nodiscard]] Status load(Function*& function, const char* name) const {
    void* found = find(name);
    if (found == nullptr) return missing(name);
    function = reinterpret_cast<Function*>(found);
    return {};
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  [[nodiscard]] void* find(const char* name) const;
  [[nodiscard]] Status missing(const char* name) const;

  void* handle_;
  std::string name_;
};

}  // namespace shardscope::engine::cuda
