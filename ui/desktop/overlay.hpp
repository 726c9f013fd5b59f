#pragma once
// Menus, the command palette and the overlay of keys: what lies above the panes.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/input/ui.hpp"

namespace shardscope::ui {

struct MenuItem {
  std::string label;
  std::string hint;
  bool enabled = true;
  std::function<void()> pick;
};

struct Menu {
  Point at;
  std::vector<MenuItem> items;
  bool fresh = true;  ///< opened in this frame
  float scroll = 0;
};

/// Something a person can do: in the palette, by key, from a button.
struct Command {
  std::string title;
  std::string keys;  ///< as people write them: "Ctrl+Shift+Z"
  int code = 0;      ///< 0: no key
  std::uint8_t modifiers = kNone;
  bool enabled = true;
  std::function<void()> run;
};

/// A searchable list of commands.
struct CommandPalette {
  bool open = false;
  std::string text;
  int chosen = 0;
};

/// Draws the menu; false when it closed (picked, Esc, or a click elsewhere).
bool draw_menu(Ui& ui, Menu& menu, const Rect& window);
void draw_command_palette(Ui& ui, CommandPalette& palette, const std::vector<Command>& commands,
                          const Rect& window);
/// All keys at once; false when closed.
bool draw_keys(Ui& ui, const std::vector<Command>& commands, const Rect& window);
/// Runs the command whose key went down in this frame.
void run_by_key(Ui& ui, const std::vector<Command>& commands);

/// Whether every letter of `text` occurs in `title` in order, whatever the case; a lower score is a
/// closer match, -1 none.
[[nodiscard]] int match_score(std::string_view title, std::string_view text);

}  // namespace shardscope::ui
