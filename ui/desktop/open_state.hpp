#pragma once
// What the Open dialog remembers.

#include <map>
#include <string>
#include <vector>

#include "ui/model/folder_list.hpp"

namespace shardscope::ui {

struct OpenState {
  bool shown = false;
  std::string text;    ///< as typed; its folder is listed
  std::string base;    ///< that a relative path counts from
  std::string listed;  ///< folder whose entries these are
  std::vector<FolderEntry> entries;
  std::string error;
  std::map<std::string, std::string> kinds;  ///< by path, of entries that were visible
  int chosen = -1;                           ///< index into the matching entries
  float scroll = 0;
};

}  // namespace shardscope::ui
