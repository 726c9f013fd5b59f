#include "ui/platform/offscreen.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace shardscope::ui {

struct Offscreen::State {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLSurface surface = EGL_NO_SURFACE;
  EGLContext context = EGL_NO_CONTEXT;
  int width = 0;
  int height = 0;
  bool backend = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (backend) ImGui_ImplOpenGL3_Shutdown();
    if (display == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
    if (surface != EGL_NO_SURFACE) eglDestroySurface(display, surface);
    eglTerminate(display);
  }
};

namespace {

tl::unexpected<Error> no_opengl(const std::string& step) {
  return fail({ErrorKind::runtime, "there is no OpenGL to draw with", step,
               "OpenGL 3 through EGL's surfaceless platform",
               "Install libegl1 and libgl1-mesa-dri; they draw on the CPU"});
}

EGLDisplay surfaceless_display() {
  const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get == nullptr) return EGL_NO_DISPLAY;
  return get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
}

}  // namespace

Offscreen::Offscreen(std::unique_ptr<State> state) : state_(std::move(state)) {}
Offscreen::Offscreen(Offscreen&&) noexcept = default;
Offscreen& Offscreen::operator=(Offscreen&&) noexcept = default;
Offscreen::~Offscreen() = default;

Result<Offscreen> Offscreen::create(int width, int height) {
  auto state = std::make_unique<State>();
  state->width = width;
  state->height = height;
  state->display = surfaceless_display();
  if (state->display == EGL_NO_DISPLAY ||
      eglInitialize(state->display, nullptr, nullptr) == EGL_FALSE) {
    return no_opengl("eglInitialize");
  }
  if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return no_opengl("eglBindAPI");
  const EGLint wanted[] = {EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT,
                           EGL_RENDERABLE_TYPE,
                           EGL_OPENGL_BIT,
                           EGL_RED_SIZE,
                           8,
                           EGL_GREEN_SIZE,
                           8,
                           EGL_BLUE_SIZE,
                           8,
                           EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  if (eglChooseConfig(state->display, wanted, &config, 1, &found) == EGL_FALSE || found == 0) {
    return no_opengl("eglChooseConfig");
  }
  const EGLint size[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
  state->surface = eglCreatePbufferSurface(state->display, config, size);
  if (state->surface == EGL_NO_SURFACE) {
    return no_opengl(fmt::format("a picture of {}x{}", width, height));
  }
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
  state->context = eglCreateContext(state->display, config, EGL_NO_CONTEXT, version);
  if (state->context == EGL_NO_CONTEXT ||
      eglMakeCurrent(state->display, state->surface, state->surface, state->context) == EGL_FALSE) {
    return no_opengl("eglCreateContext");
  }
  if (!ImGui_ImplOpenGL3_Init("#version 130")) return no_opengl("Dear ImGui's OpenGL 3 renderer");
  state->backend = true;
  ImGui_ImplOpenGL3_NewFrame();
  return Offscreen(std::move(state));
}

void Offscreen::renew_fonts() {
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

Picture Offscreen::render(ImDrawData& data) {
  glViewport(0, 0, state_->width, state_->height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
  Picture picture{state_->width, state_->height, {}};
  const auto stride = static_cast<std::size_t>(state_->width) * 3;
  picture.rgb.resize(stride * static_cast<std::size_t>(state_->height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, state_->width, state_->height, GL_RGB, GL_UNSIGNED_BYTE, picture.rgb.data());
  turn_upside_down(picture);
  return picture;
}

}  // namespace shardscope::ui
