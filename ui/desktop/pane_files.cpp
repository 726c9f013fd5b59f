#include "ui/desktop/pane_files.hpp"

#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <utility>

#include "ui/desktop/run_control.hpp"
#include "ui/panels/pane_tables.hpp"

namespace shardscope::ui {
namespace {

std::string file_stem(const std::string& pane) {
  std::string stem;
  for (const char letter : pane) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) stem += static_cast<char>(std::tolower(byte));
    if (letter == ' ' && !stem.ends_with('-')) stem += '-';
  }
  return stem.empty() ? "shardscope" : stem;
}

const Pane* table_pane(Desktop& desktop, const UiMemory& memory) {
  const Pane* pane = memory.meant_pane();
  if (pane != nullptr && pane->table) return pane;
  desktop.tell(NoticeKind::warning,
               "No pane with a table is meant: point at one, or reach it with Tab.");
  return nullptr;
}

}  // namespace

void copy_pane(Desktop& desktop, const UiMemory& memory) {
  if (const Pane* pane = table_pane(desktop, memory))
    ImGui::SetClipboardText(pane->table().c_str());
}

void save_pane_csv(Desktop& desktop, const UiMemory& memory) {
  const Pane* pane = table_pane(desktop, memory);
  if (pane == nullptr) return;
  const std::string path = new_data_path(file_stem(pane->name), ".csv");
  std::ofstream out(path, std::ios::binary);
  out << csv_of(pane->table());
  out.close();
  if (out) {
    desktop.tell(NoticeKind::note, pane->name + " saved as " + path);
  } else {
    desktop.tell(NoticeKind::error, path + " cannot be written: is the disk full?");
  }
}

void save_pane_picture(Desktop& desktop, const UiMemory& memory, bool whole) {
  PictureRequest request;
  const Pane* pane = whole ? nullptr : memory.meant_pane();
  if (pane != nullptr) request.rect = pane->rect;
  request.whole = pane == nullptr;
  request.path = new_data_path(file_stem(pane != nullptr ? pane->name : "window"), ".png");
  desktop.picture = std::move(request);
}

Picture cropped(const Picture& picture, const Rect& rect) {
  const int x0 = std::clamp(static_cast<int>(std::floor(rect.x0)), 0, picture.width);
  const int y0 = std::clamp(static_cast<int>(std::floor(rect.y0)), 0, picture.height);
  const int x1 = std::clamp(static_cast<int>(std::ceil(rect.x1)), x0, picture.width);
  const int y1 = std::clamp(static_cast<int>(std::ceil(rect.y1)), y0, picture.height);
  Picture part{x1 - x0, y1 - y0, {}};
  for (int y = y0; y < y1; ++y) {
    const auto row =
        picture.rgb.begin() + (static_cast<std::ptrdiff_t>(y) * picture.width + x0) * 3;
    part.rgb.insert(part.rgb.end(), row, row + static_cast<std::ptrdiff_t>(part.width) * 3);
  }
  return part;
}

void take_asked_picture(Desktop& desktop, float scale, const std::function<Picture()>& read) {
  if (!desktop.picture) return;
  const PictureRequest request = *std::exchange(desktop.picture, std::nullopt);
  const Rect& rect = request.rect;
  Picture picture = read();
  if (!request.whole) {
    picture =
        cropped(picture, {rect.x0 * scale, rect.y0 * scale, rect.x1 * scale, rect.y1 * scale});
  }
  if (Status written = write_png(request.path, picture); !written) {
    desktop.tell(written.error());
  } else {
    desktop.tell(NoticeKind::note, "Picture saved as " + request.path);
  }
}

}  // namespace shardscope::ui
