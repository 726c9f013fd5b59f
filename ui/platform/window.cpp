#include "ui/platform/window.hpp"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ui/desktop/frame.hpp"
#include "ui/desktop/startup.hpp"
#include "ui/platform/key_queue.hpp"

namespace shardscope::ui {
namespace {

constexpr int kFramesAfterInput = 3;    ///< hovering settles in two
constexpr double kIdleSeconds = 1;      ///< between frames without input
constexpr double kBusySeconds = 0.016;  ///< while something goes on by itself

/// GLFW as long as the object lives, with its last complaint.
class Glfw {
 public:
  Glfw() {
    complaint().clear();
    glfwSetErrorCallback([](int, const char* text) { complaint() = text; });
    started_ = glfwInit() == GLFW_TRUE;
  }
  ~Glfw() {
    if (started_) glfwTerminate();
  }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;

  [[nodiscard]] bool started() const { return started_; }
  static std::string& complaint() {
    static std::string text;
    return text;
  }

 private:
  bool started_ = false;
};

using WindowHandle = std::unique_ptr<GLFWwindow, void (*)(GLFWwindow*)>;

tl::unexpected<Error> no_window(const std::string& what, const std::string& expected) {
  return fail({ErrorKind::runtime, what, Glfw::complaint(), expected,
               "--screenshot DIR draws without a display"});
}

/// The renderer and the input backend of a window.
class Backend {
 public:
  explicit Backend(GLFWwindow* window) {
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ready_ = ImGui_ImplOpenGL3_Init("#version 130");
  }
  ~Backend() {
    if (ready_) ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  [[nodiscard]] bool ready() const { return ready_; }

 private:
  bool ready_ = false;
};

/// What the window's callbacks reach.
struct WindowState {
  Desktop desktop;
  KeyQueue keys;
};

WindowState& state_of(GLFWwindow* window) {
  return *static_cast<WindowState*>(glfwGetWindowUserPointer(window));
}

void on_key(GLFWwindow* window, int key, int, int action, int mods) {
  const bool modifier = key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
  if (action == GLFW_PRESS && key >= 0 && key < 512 && !modifier) {
    state_of(window).keys.press(key, mods);
  }
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
  Desktop& desktop = state_of(window).desktop;
  for (int i = 0; i < count; ++i) open_dropped(desktop, paths[i]);
}

void draw_once(GLFWwindow* window, GuiContext& context, Desktop& desktop) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  state_of(window).keys.begin_frame();
  ImGui::NewFrame();
  draw_frame(context, desktop, nullptr);
  ImGui::Render();
  state_of(window).keys.end_frame(window);
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
}

float display_scale(GLFWwindow* window) {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::clamp(std::max(x, y), 1.0F, 4.0F);
}

void run_loop(GLFWwindow* window, GuiContext& context, Desktop& desktop, bool scale_given) {
  int frames_left = kFramesAfterInput;
  while (glfwWindowShouldClose(window) == GLFW_FALSE && !desktop.quit) {
    if (frames_left > 0) {
      glfwPollEvents();
      --frames_left;
    } else {
      const double wait = desktop.busy ? kBusySeconds : kIdleSeconds;
      const double before = glfwGetTime();
      glfwWaitEventsTimeout(wait);
      // Returning early means that something happened.
      if (glfwGetTime() - before < wait * 0.95) frames_left = kFramesAfterInput;
      if (!desktop.busy && frames_left == 0) continue;
    }
    if (!scale_given && display_scale(window) != context.scale()) {
      context.set_scale(display_scale(window));
      ImGui_ImplOpenGL3_DestroyFontsTexture();
    }
    draw_once(window, context, desktop);
  }
}

}  // namespace

Status run_window(const GuiOptions& options) {
  const Glfw glfw;
  if (!glfw.started()) return no_window("no window can be opened", "an Xorg or Wayland display");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  const WindowHandle window(
      glfwCreateWindow(options.width, options.height, "Shardscope", nullptr, nullptr),
      glfwDestroyWindow);
  if (window == nullptr) return no_window("there is no OpenGL 3 to draw with", "OpenGL 3.0");
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);

  WindowState state;
  Desktop& desktop = state.desktop;
  desktop.settings_file = settings_path();
  desktop.settings = load_settings(desktop.settings_file);
  if (options.theme_given) desktop.settings.theme = options.theme;
  if (Status opened = open_as_asked(desktop, options); !opened) return opened;
  const bool scale_given = options.scale > 0 || desktop.settings.scale > 0;
  const float scale = options.scale > 0            ? options.scale
                      : desktop.settings.scale > 0 ? desktop.settings.scale
                                                   : display_scale(window.get());
  GuiContext context(scale);
  if (!context.fonts().missing.empty()) {
    desktop.tell(Severity::warning, "Fonts are missing: " + context.fonts().missing +
                                        ". Install fonts-inter and fonts-jetbrains-mono.");
  }
  {
    desktop.wake = [] { glfwPostEmptyEvent(); };
    glfwSetWindowUserPointer(window.get(), &state);
    glfwSetKeyCallback(window.get(), on_key);  // the backend calls it from its own
    glfwSetDropCallback(window.get(), on_drop);
    const Backend backend(window.get());
    if (!backend.ready()) return no_window("there is no OpenGL 3 to draw with", "OpenGL 3.0");
    run_loop(window.get(), context, desktop, scale_given);
  }
  if (desktop.settings_file.empty()) return {};
  return save_settings(desktop.settings, desktop.settings_file);
}

}  // namespace shardscope::ui
