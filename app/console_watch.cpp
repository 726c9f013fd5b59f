#include "app/console_watch.hpp"

namespace shardscope::app {

void ConsoleWatch::progress(double share, const std::string& detail) {
  if (!progress_) progress_.emplace(what_);
  progress_->update(share, detail);
}

}  // namespace shardscope::app
