#pragma once
// How far a long step is, on stderr: one moving line on a terminal, a line every ten seconds
// elsewhere. Nothing is shown before two seconds have passed.

#include <chrono>
#include <string>

#include "app/console.hpp"

namespace shardscope::app {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `share` done of the whole (0..1) and what to say beside it. Cheap: draws at most 10 times a
  /// second.
  void update(double share, const std::string& detail = "");
  /// Clears the moving line.
  void finish();

  /// The line for a share after `elapsed_s`: "profile  42 %  12 s, 17 s left  detail".
  [[nodiscard]] static std::string line(const std::string& what, double share, double elapsed_s,
                                        const std::string& detail);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  Console console_;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool line_open_ = false;
};

}  // namespace shardscope::app
