#pragma once
// The components every panel is made of. Each registers its rectangle under its name.

#include <span>
#include <string>
#include <string_view>

#include "ui/input/ui.hpp"

namespace shardscope::ui {

inline constexpr float kHeaderHeight = 28;
inline constexpr float kToolHeight = 34;
inline constexpr float kRowHeight = 20;
inline constexpr float kGroupHeight = 22;
inline constexpr float kButtonHeight = 24;
inline constexpr float kFieldHeight = 22;
inline constexpr float kPadding = 12;

/// A pane over the dimmed window, in a layer of its own (the caller ends it). Returns where it is.
Rect begin_dialog(Ui& ui, std::string_view name, const Rect& window, float width, float height);

enum class ButtonStyle : std::uint8_t { plain, primary, quiet };

struct ButtonOptions {
  ButtonStyle style = ButtonStyle::plain;
  bool enabled = true;
  std::string_view hint = {};  ///< its key, dimmer at the right
  std::string_view tooltip = {};
};

/// True when clicked.
bool button(Ui& ui, std::string_view name, const Rect& rect, std::string_view label,
            const ButtonOptions& options = {});
[[nodiscard]] float button_width(const Ui& ui, std::string_view label);

/// Choices side by side, one of them on. Returns its right edge; `chosen` changes on a click.
float segmented(Ui& ui, std::string_view name, float x, float y,
                std::span<const std::string_view> labels, int& chosen);
[[nodiscard]] float segmented_width(const Ui& ui, std::span<const std::string_view> labels);

struct Choice {
  std::string_view label;
  std::string refusal = {};  ///< why it cannot be chosen, told under the mouse; empty: it can
};

/// The same with choices that may be refused; `chosen` is a label, of which none may be on. Cells
/// share `width`.
void choices(Ui& ui, std::string_view name, const Rect& rect, std::span<const Choice> choices,
             std::string& chosen);

/// A box that is on or off. True when it changed. Returns through `right` where it ends.
bool toggle(Ui& ui, std::string_view name, float x, float y, std::string_view label, bool& on,
            float* right = nullptr);
bool check_box(Ui& ui, std::string_view name, Point top_left, bool& on);

struct FieldOptions {
  std::string_view placeholder = {};
  bool mono = true;
  bool align_right = false;
  bool live = false;  ///< the text follows every key, not only Enter
  bool enabled = true;
  bool accent = false;        ///< value drawn in the accent colour
  bool caret_at_end = false;  ///< typing goes on where the text ends; else it replaces the text
};

/// Text to click and type. True when a new text is there; Esc puts the old one back.
bool field(Ui& ui, std::string_view name, const Rect& rect, std::string& text,
           const FieldOptions& options = {});
/// Puts the keyboard into that field from the next frame on.
void focus_field(UiMemory& memory, std::string_view name, std::string text);
[[nodiscard]] bool field_has_focus(const UiMemory& memory, std::string_view name);

/// A pane's first line: its name, and a grey sentence that says how to read it. The right `used`
/// pixels belong to others.
void pane_header(Ui& ui, Rect rect, std::string_view title, std::string_view sentence,
                 float used = 0);

/// Two letters of a cluster on its colour; hollow for DP. Returns its width.
float cluster_chip(Ui& ui, float x, float y, ClusterType cluster);
/// SIMULATED dashed, EMULATED half-filled, MEASURED solid. Returns its width.
float mode_badge(Ui& ui, float x, float y, Mode mode);

/// A column header that sorts; draws a triangle where it is the sorted one. True when clicked.
bool column_header(Ui& ui, std::string_view name, float x0, float x1, float y,
                   std::string_view label, Align align, bool sorted, bool descending);

/// A vertical scroll offset with its bar at the right of `view`, for `content` pixels of content.
void scroll(Ui& ui, std::string_view name, const Rect& view, float content, float& offset);

/// A line that can be dragged between two panes; moves `size` within [low, high].
void gutter(Ui& ui, std::string_view name, const Rect& line, bool vertical, float sign, float& size,
            float low, float high);

/// A framed text near the mouse, kept inside `bounds`.
void draw_tooltip(Ui& ui, const Rect& bounds, std::string_view text);

}  // namespace shardscope::ui
