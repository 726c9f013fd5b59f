#include "tests/fuzz/replay.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.hpp"
#include "tests/paths.hpp"

// Present in sanitizer builds: an address sanitizer's report ends the process without a signal.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

// Read by the undefined-behaviour sanitizer, whose runtime has a life of its own under g++.
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}

namespace shardscope::fuzz {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSlowestInput{10};

/// The input being tried, for the handlers below: only plain data and system calls there.
struct Current {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  char path[256] = {};
};
Current current;  // NOLINT: a signal handler can reach nothing else

void save_current() {
  if (current.path[0] == '\0') return;
  const int file = ::open(current.path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  std::size_t done = 0;
  while (done < current.size) {
    const ssize_t count = ::write(file, current.data + done, current.size - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  ::close(file);
  constexpr char kMessage[] = "fuzz: the input that ended the process is in ";
  (void)!::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  (void)!::write(STDERR_FILENO, current.path, std::char_traits<char>::length(current.path));
  (void)!::write(STDERR_FILENO, "\n", 1);
  current.path[0] = '\0';
}

void on_signal(int number) {
  save_current();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Names the crash file while a target runs.
class CrashGuard {
 public:
  explicit CrashGuard(const char* name) {
    std::snprintf(current.path, sizeof(current.path), "%s/crash-%s", test::binary_dir().c_str(),
                  name);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&save_current);
    for (const int number : kSignals) std::signal(number, &on_signal);
  }
  ~CrashGuard() {
    for (const int number : kSignals) std::signal(number, SIG_DFL);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback([] {});
    current = {};
  }
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  static constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS};
};

void run_one(Target target, const Bytes& input, const std::string& what) {
  current.data = input.data();
  current.size = input.size();
  const Clock::time_point start = Clock::now();
  target(input);
  if (Clock::now() - start > kSlowestInput) {
    save_current();
    ADD_FAILURE() << what << " took longer than " << kSlowestInput.count() << " s";
  }
}

std::vector<Bytes> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

void replay_and_mutate(const char* name, Target target) {
  const std::string folder = test::source_dir() + "/tests/fuzz/corpus/" + name;
  const std::vector<Bytes> corpus = read_corpus(folder);
  ASSERT_FALSE(corpus.empty()) << "no files in " << folder;
  const CrashGuard guard(name);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    run_one(target, corpus[i], "corpus file " + std::to_string(i));
  }
  const std::uint64_t seed = number_from("SHARDSCOPE_FUZZ_SEED", std::random_device{}());
  std::printf("SHARDSCOPE_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  const auto seconds = std::chrono::seconds(number_from("SHARDSCOPE_FUZZ_SECONDS", 1));
  const Clock::time_point end = Clock::now() + seconds;
  std::uint64_t inputs = 0;
  for (; Clock::now() < end && !testing::Test::HasFailure(); ++inputs) {
    run_one(target, mutate(corpus, random), "input " + std::to_string(inputs));
  }
  std::printf("%llu mutated inputs\n", static_cast<unsigned long long>(inputs));
}

}  // namespace shardscope::fuzz
