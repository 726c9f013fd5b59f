#include "storage/nsys/values.hpp"

namespace shardscope::storage::nsys {

std::string short_kernel_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;  // of the name that starts at `begin`, once known
  int depth = 0;                             // of template brackets
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (depth == 0 && demangled.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (c == '<') {
      if (depth++ == 0) end = i;
    } else if (c == '>') {
      if (depth > 0) --depth;
    } else if (depth > 0) {
      continue;
    } else if (c == '(') {
      if (end == std::string_view::npos) end = i;
      break;
    } else if (c == ' ' || demangled.substr(i).starts_with("::")) {
      i += c == ' ' ? 0 : 1;
      begin = i + 1;
      end = std::string_view::npos;
    }
  }
  const std::string_view name =
      demangled.substr(begin, end == std::string_view::npos ? end : end - begin);
  return std::string(name.empty() ? demangled : name);
}

}  // namespace shardscope::storage::nsys
