// The house as docs/architecture.md draws it: which folder may include which, and who alone may
// know a library.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/paths.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = shardscope::test::source_dir();

struct Include {
  std::string file;  // relative to the root
  int line = 0;
  std::string target;  // as written between the quotes or brackets
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Include> includes_in(const std::string& text, const std::string& file) {
  static const std::regex directive(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
  std::vector<Include> found;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, directive)) found.push_back({file, number, match[1]});
  }
  return found;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> extensions = {".cpp", ".hpp", ".cu", ".cuh", ".h", ".inc"};
  return extensions.contains(path.extension().string());
}

std::vector<Include> includes_under(const std::string& folder) {
  std::vector<Include> found;
  if (!fs::is_directory(kRoot / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const std::string name = fs::relative(entry.path(), kRoot).generic_string();
    for (Include& include : includes_in(text_of(entry.path()), name)) {
      found.push_back(std::move(include));
    }
  }
  return found;
}

std::string first_folder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

std::string cell(std::string text) {
  const auto first = text.find_first_not_of(" `/");
  const auto last = text.find_last_not_of(" `/");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Rows "| `folder/` | ... | a, b |" of the table in docs/architecture.md.
std::map<std::string, std::set<std::string>> allowed_edges() {
  std::map<std::string, std::set<std::string>> edges;
  std::istringstream lines(text_of(kRoot / "docs/architecture.md"));
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string part; std::getline(row, part, '|');) cells.push_back(part);
    if (cells.size() < 3) continue;
    std::istringstream targets(cells[2]);
    std::set<std::string>& allowed = edges[cell(cells[0])];
    for (std::string target; std::getline(targets, target, ',');) {
      if (!cell(target).empty()) allowed.insert(cell(target));
    }
  }
  return edges;
}

const std::set<std::string>& house_folders() {
  static const std::set<std::string> folders = {"layout",  "profiler", "planner", "engine",
                                                "storage", "ui",       "app"};
  return folders;
}

// The rule that `include` breaks, or an empty text.
std::string broken_rule(const Include& include,
                        const std::map<std::string, std::set<std::string>>& edges) {
  const std::string from = first_folder(include.file);
  const std::string to = first_folder(include.target);
  const bool product = house_folders().contains(from);
  if (product && house_folders().contains(to) && to != from) {
    const auto rule = edges.find(from);
    if (rule == edges.end()) return "docs/architecture.md has no row for " + from + "/";
    const bool service = from == "ui" && include.target.starts_with("engine/service/");
    if (!rule->second.contains("all") && !rule->second.contains(to) && !service) {
      return from + "/ may not include " + to + "/";
    }
    if (from == "ui" && to == "engine" && !service) return "ui/ may include only engine/service/";
  }
  if (include.file.starts_with("engine/service/") && to == "engine" &&
      !include.target.starts_with("engine/service/")) {
    return "engine/service/ links no engine";
  }
  if (product && include.target == "sqlite3.h" && from != "storage") {
    return "only storage/ includes sqlite3.h";
  }
  if (product && include.target.starts_with("CLI/") &&
      !include.file.starts_with("app/command_line")) {
    return "only app/command_line*.cpp include CLI11";
  }
  if (include.target == "nlohmann/json.hpp" && !include.file.ends_with(".cpp")) {
    return "nlohmann/json.hpp belongs in .cpp files; headers take json_fwd.hpp";
  }
  static const std::regex cuda("^(cuda|cupti|cublas|cub/|nccl|nvrtc|nvtx)");
  if (product && std::regex_search(include.target, cuda) &&
      !include.file.starts_with("engine/cuda/") && !include.file.starts_with("profiler/cupti")) {
    return "only engine/cuda/ and profiler/cupti* include CUDA headers";
  }
  static const std::regex window("^(imgui|GLFW/|backends/imgui)");
  if (product && std::regex_search(include.target, window) && from != "ui" && from != "app") {
    return "only ui/ includes ImGui and GLFW";
  }
  return "";
}

TEST(Architecture, DocumentedTableHasARowForEveryFolderThatExists) {
  const auto edges = allowed_edges();
  for (const std::string& folder : house_folders()) {
    if (fs::is_directory(kRoot / folder) && !fs::is_empty(kRoot / folder)) {
      EXPECT_TRUE(edges.contains(folder)) << folder;
    }
  }
}

TEST(Architecture, EveryIncludeFollowsTheDocumentedEdges) {
  const auto edges = allowed_edges();
  std::size_t seen = 0;
  for (const std::string folder :
       {"layout", "profiler", "planner", "engine", "storage", "ui", "app", "tests", "bench"}) {
    for (const Include& include : includes_under(folder)) {
      ++seen;
      const std::string rule = broken_rule(include, edges);
      EXPECT_EQ(rule, "") << include.file << ":" << include.line << " includes " << include.target;
    }
  }
  EXPECT_GT(seen, 50u);
}

TEST(Architecture, AForbiddenIncludeIsFound) {
  const std::map<std::string, std::set<std::string>> edges = {
      {"layout", {}},
      {"profiler", {"layout"}},
      {"planner", {"profiler", "layout"}},
      {"engine", {"planner", "profiler", "layout"}},
      {"storage", {"planner", "profiler", "layout"}},
      {"ui", {"storage", "planner", "profiler", "layout"}},
      {"app", {"all"}},
  };
  const std::vector<Include> forbidden = {
      {"layout/check.cpp", 1, "engine/engine.hpp"},
      {"engine/engine.cpp", 1, "storage/session.hpp"},
      {"planner/model.cpp", 1, "engine/engine.hpp"},
      {"app/main.cpp", 1, "sqlite3.h"},
      {"app/commands/plan.cpp", 1, "CLI/CLI.hpp"},
      {"layout/json.hpp", 1, "nlohmann/json.hpp"},
      {"engine/cpu/copy.cpp", 1, "cuda_runtime.h"},
      {"storage/nsys.cpp", 1, "imgui.h"},
      {"ui/map.cpp", 1, "engine/engine.hpp"},
      {"engine/service/frame.cpp", 1, "engine/engine.hpp"},
  };
  for (const Include& include : forbidden) {
    EXPECT_NE(broken_rule(include, edges), "") << include.file << " includes " << include.target;
  }
  const std::vector<Include> allowed = {
      {"engine/engine.cpp", 1, "layout/layout.hpp"}, {"storage/session.cpp", 1, "sqlite3.h"},
      {"app/main.cpp", 1, "storage/session.hpp"},    {"layout/json.cpp", 1, "nlohmann/json.hpp"},
      {"app/command_line.cpp", 1, "CLI/CLI.hpp"},    {"ui/map.cpp", 1, "engine/service/frame.hpp"},
  };
  for (const Include& include : allowed) {
    EXPECT_EQ(broken_rule(include, edges), "") << include.file << " includes " << include.target;
  }
}

TEST(Architecture, IncludesAreReadFromSourceText) {
  const auto found = includes_in(
      "#pragma once\n#include <map>\n  #  include \"layout/layout.hpp\"\n"
      "// #include \"not/this.hpp\"\n",
      "a.hpp");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].target, "layout/layout.hpp");
  EXPECT_EQ(found[1].line, 3);
}

}  // namespace
