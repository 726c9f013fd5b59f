#include "layout/result.hpp"

namespace shardscope {

std::string to_string(const Error& error) {
  std::string text;
  if (!error.place.empty()) text += error.place + ": ";
  text += error.what;
  if (!error.expected.empty()) text += "; expected " + error.expected;
  if (!error.cure.empty()) text += ". " + error.cure;
  return text;
}

}  // namespace shardscope
