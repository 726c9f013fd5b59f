#include "app/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds kQuietFor{2};
constexpr Seconds kBetweenDrawings{0.1};
constexpr Seconds kBetweenLines{10};

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), console_(Console::of_stderr()), started_(Clock::now()) {}

Progress::~Progress() {
  finish();
}

std::string Progress::line(const std::string& what, double share, double elapsed_s,
                           const std::string& detail) {
  share = std::clamp(share, 0.0, 1.0);
  std::string text =
      fmt::format("{}  {:3.0f} %  {}", what, std::floor(share * 100), duration_text(elapsed_s));
  if (share > 0.005) {
    text += fmt::format(", {} left", duration_text(elapsed_s * (1 - share) / share));
  }
  if (!detail.empty()) text += "  " + detail;
  return text;
}

void Progress::update(double share, const std::string& detail) {
  const auto now = Clock::now();
  const Seconds elapsed = now - started_;
  if (elapsed < kQuietFor) return;
  const bool first = drawn_ == Clock::time_point{};
  const Seconds pause = console_.terminal ? kBetweenDrawings : kBetweenLines;
  if (!first && now - drawn_ < pause) return;
  drawn_ = now;
  std::string text = line(what_, share, elapsed.count(), detail);
  if (console_.terminal) {
    while (columns_of(text) >= console_.width) text.pop_back();
    std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
    line_open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
}

void Progress::finish() {
  if (!line_open_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  line_open_ = false;
}

}  // namespace shardscope::app
