#include "storage/checkpointer.hpp"

#include <chrono>
#include <filesystem>
#include <utility>

#include "storage/sqlite/database.hpp"

namespace shardscope::storage {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::uintmax_t kLogBytes = std::uintmax_t{16} << 20;

/// What is committed during a pass stays for the next, shorter one. The log starts over once a pass
/// has caught up.
constexpr int kPasses = 4;

}  // namespace

Checkpointer::Checkpointer(std::string path) : path_(std::move(path)) {
  thread_ = std::thread([this] { run(); });
}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [&] { return stop_; })) {
    lock.unlock();
    std::error_code no_log;
    const std::uintmax_t bytes = std::filesystem::file_size(path_ + "-wal", no_log);
    if (!no_log && bytes > kLogBytes) checkpoint();
    lock.lock();
  }
}

void Checkpointer::checkpoint() const {
  Result<Database> database = Database::open(path_, Database::Open::read_write);
  if (!database) return;
  for (int pass = 0; pass < kPasses; ++pass) {
    Result<Statement> statement = database->prepare("PRAGMA wal_checkpoint(PASSIVE)");
    if (!statement) return;
    const Result<bool> row = statement->step();
    if (!row || !*row) return;
    const std::int64_t frames = statement->integer(1);
    const std::int64_t moved = statement->integer(2);
    if (moved >= frames) return;
  }
}

}  // namespace shardscope::storage
