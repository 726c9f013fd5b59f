#include "ui/platform/key_queue.hpp"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

namespace shardscope::ui {
namespace {

bool contains(const std::vector<int>& list, int key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

bool down(GLFWwindow* window, int left, int right) {
  return glfwGetKey(window, left) == GLFW_PRESS || glfwGetKey(window, right) == GLFW_PRESS;
}

}  // namespace

void KeyQueue::begin_frame() {
  ImGuiIO& io = ImGui::GetIO();
  before_ = std::move(shown_);
  shown_.clear();
  std::size_t taken = 0;
  for (; taken < presses_.size(); ++taken) {
    const Press& press = presses_[taken];
    if (contains(shown_, press.key) || contains(before_, press.key)) break;
    shown_.push_back(press.key);
    io.KeysDown[press.key] = true;
    io.KeyCtrl = (press.mods & GLFW_MOD_CONTROL) != 0;
    io.KeyShift = (press.mods & GLFW_MOD_SHIFT) != 0;
    io.KeyAlt = (press.mods & GLFW_MOD_ALT) != 0;
  }
  presses_.erase(presses_.begin(), presses_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void KeyQueue::end_frame(GLFWwindow* window) {
  if (shown_.empty()) return;
  ImGuiIO& io = ImGui::GetIO();
  for (const int key : shown_) io.KeysDown[key] = glfwGetKey(window, key) == GLFW_PRESS;
  io.KeyCtrl = down(window, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = down(window, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = down(window, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
}

}  // namespace shardscope::ui
