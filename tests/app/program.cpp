#include "tests/app/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/paths.hpp"

namespace shardscope::app {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Replaces the child by the program, its output in the two files.
[[noreturn]] void become_program(const std::vector<std::string>& arguments, const fs::path& folder,
                                 const fs::path& out, const fs::path& err, bool as_nobody) {
  const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in_file = open("/dev/null", O_RDONLY);
  if (out_file < 0 || err_file < 0 || in_file < 0 || chdir(folder.c_str()) != 0) _exit(126);
  if (as_nobody && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(126);
  dup2(in_file, STDIN_FILENO);
  dup2(out_file, STDOUT_FILENO);
  dup2(err_file, STDERR_FILENO);
  std::vector<char*> pointers;
  static std::string program = test::binary_dir() + "/bin/shardscope";
  pointers.push_back(program.data());
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const fs::path& folder,
                          const ProgramCircumstances& circumstances) {
  const test::TempDirectory streams;
  const fs::path out = streams.path() / "out";
  const fs::path err = streams.path() / "err";
  const pid_t child = fork();
  if (child == 0) become_program(arguments, folder, out, err, circumstances.as_nobody);
  if (circumstances.interrupt_after_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(circumstances.interrupt_after_s));
    kill(child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ProgramResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = contents(out);
  result.err = contents(err);
  return result;
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(test::source_dir()) / "tests/app/golden" / (name + ".txt");
  if (const char* update = std::getenv("SHARDSCOPE_UPDATE_GOLDEN");
      update != nullptr && std::string(update) == "1") {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, contents(file)) << file
                                  << " differs; if the new text is right, run the test "
                                     "again with SHARDSCOPE_UPDATE_GOLDEN=1";
}

std::string small_workload() {
  return R"({"name": "small", "global_batch": 256, "tables": [
    {"name": "t0", "rows": 5000, "dim": 16, "hotness": 10},
    {"name": "t1", "rows": 2000, "dim": 16, "hotness": 5},
    {"name": "t2", "rows": 1000, "dim": 16, "hotness": 1},
    {"name": "t3", "rows": 500, "dim": 16, "hotness": 1},
    {"name": "t4", "rows": 100, "dim": 16, "hotness": 1},
    {"name": "t5", "rows": 10, "dim": 16, "hotness": 1},
    {"name": "t6", "rows": 7, "dim": 16, "hotness": 2},
    {"name": "t7", "rows": 3, "dim": 16, "hotness": 1}]})";
}

}  // namespace shardscope::app
