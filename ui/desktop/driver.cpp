#include "ui/desktop/driver.hpp"

#include <imgui.h>

namespace shardscope::ui {
namespace {

constexpr float kFrameSeconds = 1.0F / 60;
constexpr int kDragSteps = 6;

InputFrame input_of(const ImGuiIO& io) {
  InputFrame frame;
  frame.x = io.MousePos.x;
  frame.y = io.MousePos.y;
  for (std::size_t b = 0; b < frame.down.size(); ++b) frame.down[b] = io.MouseDown[b];
  frame.wheel = io.MouseWheel;
  frame.modifiers = static_cast<std::uint8_t>((io.KeyCtrl ? kCtrl : 0) |
                                              (io.KeyShift ? kShift : 0) | (io.KeyAlt ? kAlt : 0));
  for (int key = 0; key < IM_ARRAYSIZE(io.KeysDown); ++key) {
    if (io.KeysDown[key]) frame.keys.push_back(key);
  }
  for (const ImWchar character : io.InputQueueCharacters) frame.typed.push_back(character);
  return frame;
}

}  // namespace

Driver::Driver(GuiContext& context, Desktop& desktop, int width, int height)
    : context_(context), desktop_(desktop) {
  resize(width, height);
  ImGui::GetIO().MousePos = {-1e6F, -1e6F};
}

void Driver::resize(int width, int height) {
  ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
}

ImDrawData& Driver::frame() {
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = kFrameSeconds;
  if (recorded_ != nullptr) recorded_->push_back(input_of(io));
  ImGui::NewFrame();
  draw_frame(context_, desktop_, &names_);
  ImGui::Render();
  io.MouseWheel = 0;
  return *ImGui::GetDrawData();
}

ImDrawData& Driver::settle(int limit) {
  frame();
  frame();
  if (desktop_.document != nullptr) desktop_.document->wait_for_bound();
  frame();
  for (int i = 0; i < limit && desktop_.busy; ++i) frame();
  return frame();
}

void Driver::move(Point to) {
  ImGui::GetIO().MousePos = {to.x * context_.scale(), to.y * context_.scale()};
  frame();
}

void Driver::press(Button button) {
  ImGui::GetIO().MouseDown[static_cast<std::size_t>(button)] = true;
  frame();
}

void Driver::release(Button button) {
  ImGui::GetIO().MouseDown[static_cast<std::size_t>(button)] = false;
  frame();
}

void Driver::click(Point at) {
  move(at);
  press();
  release();
}

void Driver::drag(Point from, Point to) {
  move(from);
  press();
  for (int i = 1; i <= kDragSteps; ++i) {
    const float share = static_cast<float>(i) / kDragSteps;
    move({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
  }
}

void Driver::wheel(Point at, float steps, std::uint8_t modifiers) {
  move(at);
  hold(modifiers);
  ImGui::GetIO().MouseWheel = steps;
  frame();
  hold(kNone);
}

void Driver::hold(std::uint8_t modifiers) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = (modifiers & kCtrl) != 0;
  io.KeyShift = (modifiers & kShift) != 0;
  io.KeyAlt = (modifiers & kAlt) != 0;
}

void Driver::key(int code, std::uint8_t modifiers) {
  hold(modifiers);
  ImGui::GetIO().KeysDown[code] = true;
  frame();
  ImGui::GetIO().KeysDown[code] = false;
  frame();
  hold(kNone);
}

void Driver::type(std::string_view text) {
  for (const char letter : text) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
    frame();
  }
}

void Driver::replay(const std::vector<InputFrame>& frames) {
  ImGuiIO& io = ImGui::GetIO();
  const auto set_keys = [&io](const InputFrame& input) {
    for (bool& down : io.KeysDown) down = false;
    for (const int key : input.keys) io.KeysDown[key] = true;
    for (std::size_t b = 0; b < input.down.size(); ++b) io.MouseDown[b] = input.down[b];
  };
  for (const InputFrame& input : frames) {
    io.MousePos = {input.x, input.y};
    io.MouseWheel = input.wheel;
    hold(input.modifiers);
    set_keys(input);
    for (const std::uint32_t character : input.typed) io.AddInputCharacter(character);
    frame();
  }
  set_keys({});
  hold(kNone);
  frame();
}

Rect Driver::rect(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? Rect{} : found->second;
}

Point Driver::center(std::string_view name) const {
  const Rect found = rect(name);
  return {found.center_x(), found.center_y()};
}

}  // namespace shardscope::ui
