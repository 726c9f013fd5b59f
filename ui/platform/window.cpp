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
#include "ui/desktop/open_file.hpp"
#include "ui/desktop/pane_files.hpp"
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
  for (int i = 0; i < count; ++i) try_open_path(desktop, paths[i]);
}

Picture read_frame(int width, int height) {
  Picture picture{width, height, {}};
  const auto stride = static_cast<std::size_t>(width) * 3;
  picture.rgb.resize(stride * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, picture.rgb.data());
  turn_upside_down(picture);
  return picture;
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
  take_asked_picture(desktop, context.scale(), [&] { return read_frame(width, height); });
  glfwSwapBuffers(window);
}

float display_scale(GLFWwindow* window) {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::clamp(std::max(x, y), 1.0F, 4.0F);
}

/// What settings and display ask for; a scale of the command line stands above both.
float wanted_scale(GLFWwindow* window, const Desktop& desktop, float given) {
  if (given > 0) return given;
  return desktop.settings.scale > 0 ? desktop.settings.scale : display_scale(window);
}

void run_loop(GLFWwindow* window, GuiContext& context, Desktop& desktop, float scale_given) {
  int frames_left = kFramesAfterInput;
  while (glfwWindowShouldClose(window) == GLFW_FALSE && !desktop.quit) {
    if (frames_left > 0) {
      glfwPollEvents();
      --frames_left;
    } else {
      const bool always = desktop.settings.idle > 1;
      const double wait = desktop.busy || always ? kBusySeconds : kIdleSeconds;
      const double before = glfwGetTime();
      glfwWaitEventsTimeout(wait);
      // Returning early means that something happened.
      if (glfwGetTime() - before < wait * 0.95) frames_left = kFramesAfterInput;
      if (!desktop.busy && frames_left == 0 && desktop.settings.idle < 1) continue;
    }
    const float scale = wanted_scale(window, desktop, scale_given);
    const float text = desktop.settings.text_scale;
    if (scale != context.scale() || text != context.text_scale()) {
      context.set_scale(scale, text);
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
  desktop.attended = true;
  desktop.settings_file = settings_path();
  desktop.settings = load_settings(desktop.settings_file);
  if (options.theme_given) desktop.settings.theme = options.theme;
  desktop.autosave.folder = journal_folder();
  offer_recovery(desktop);
  if (Status opened = open_as_asked(desktop, options); !opened) return opened;
  GuiContext context(wanted_scale(window.get(), desktop, options.scale),
                     desktop.settings.text_scale);
  if (!context.fonts().missing.empty()) {
    desktop.tell(NoticeKind::warning, "Fonts are missing: " + context.fonts().missing +
                                          ". Install fonts-inter and fonts-jetbrains-mono.");
  }
  {
    desktop.wake = [] { glfwPostEmptyEvent(); };
    glfwSetWindowUserPointer(window.get(), &state);
    glfwSetKeyCallback(window.get(), on_key);  // the backend calls it from its own
    glfwSetDropCallback(window.get(), on_drop);
    const Backend backend(window.get());
    if (!backend.ready()) return no_window("there is no OpenGL 3 to draw with", "OpenGL 3.0");
    run_loop(window.get(), context, desktop, options.scale);
  }
  if (desktop.settings_file.empty()) return {};
  return save_settings(desktop.settings, desktop.settings_file);
}

}  // namespace shardscope::ui
