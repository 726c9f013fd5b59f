#include "ui/desktop/frame.hpp"

#include <imgui.h>

namespace shardscope::ui {
namespace {

Input read_input(float scale, const UiMemory& memory) {
  const ImGuiIO& io = ImGui::GetIO();
  Input input;
  input.mouse = {io.MousePos.x / scale, io.MousePos.y / scale};
  input.moved = {io.MouseDelta.x / scale, io.MouseDelta.y / scale};
  input.wheel = io.MouseWheel;
  for (std::size_t b = 0; b < 3; ++b) {
    input.down[b] = io.MouseDown[b];
    input.pressed[b] = io.MouseClicked[b];
    input.released[b] = io.MouseReleased[b];
  }
  input.double_click = io.MouseDoubleClicked[0];
  input.ctrl = io.KeyCtrl;
  input.shift = io.KeyShift;
  input.alt = io.KeyAlt;
  input.typing = memory.editing != 0;
  input.time = ImGui::GetTime();
  return input;
}

/// Editing keys of text fields, by the window system's codes.
void map_keys(ImGuiIO& io) {
  io.KeyMap[ImGuiKey_Tab] = key::kTab;
  io.KeyMap[ImGuiKey_LeftArrow] = key::kLeft;
  io.KeyMap[ImGuiKey_RightArrow] = key::kRight;
  io.KeyMap[ImGuiKey_UpArrow] = key::kUp;
  io.KeyMap[ImGuiKey_DownArrow] = key::kDown;
  io.KeyMap[ImGuiKey_PageUp] = key::kPageUp;
  io.KeyMap[ImGuiKey_PageDown] = key::kPageDown;
  io.KeyMap[ImGuiKey_Home] = key::kHome;
  io.KeyMap[ImGuiKey_End] = key::kEnd;
  io.KeyMap[ImGuiKey_Delete] = key::kDelete;
  io.KeyMap[ImGuiKey_Backspace] = key::kBackspace;
  io.KeyMap[ImGuiKey_Space] = key::kSpace;
  io.KeyMap[ImGuiKey_Enter] = key::kEnter;
  io.KeyMap[ImGuiKey_Escape] = key::kEscape;
  for (const auto& [slot, letter] : {std::pair{ImGuiKey_A, 'A'},
                                     {ImGuiKey_C, 'C'},
                                     {ImGuiKey_V, 'V'},
                                     {ImGuiKey_X, 'X'},
                                     {ImGuiKey_Y, 'Y'},
                                     {ImGuiKey_Z, 'Z'}}) {
    io.KeyMap[slot] = letter;
  }
}

}  // namespace

GuiContext::GuiContext(float scale, float text, std::string_view fonts)
    : folder_(fonts), scale_(scale) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  map_keys(io);
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
  style.WindowMinSize = {1, 1};
  style.AntiAliasedLinesUseTex = false;
  set_scale(scale, text);
}

GuiContext::~GuiContext() {
  ImGui::DestroyContext();
}

void GuiContext::set_scale(float scale, float text) {
  scale_ = scale;
  text_scale_ = text;
  fonts_ = load_fonts(*ImGui::GetIO().Fonts, scale * text, folder_);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
}

void draw_frame(GuiContext& context, Desktop& desktop, NamedRects* names) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("desktop", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  Canvas canvas(ImGui::GetWindowDrawList(), context.fonts(), context.scale());
  const Input input = read_input(context.scale(), context.memory());
  Ui ui(canvas, palette_of(desktop.settings.theme), input, context.memory());
  if (names != nullptr) names->clear();
  ui.names = names;
  draw_desktop(ui, desktop, {0, 0, size.x / context.scale(), size.y / context.scale()});
  // A press whose region is gone would hold the mouse for ever.
  if (!input.is_down(Button::left)) context.memory().held = 0;
  ImGui::End();
}

}  // namespace shardscope::ui
