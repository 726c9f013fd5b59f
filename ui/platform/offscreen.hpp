#pragma once
// OpenGL without a display: EGL's surfaceless platform, Mesa's software renderer where there is no
// GPU. Needs a current Dear ImGui context with a finished font atlas.

#include <memory>

#include "layout/result.hpp"
#include "ui/platform/png.hpp"

struct ImDrawData;

namespace shardscope::ui {

class Offscreen {
 public:
  /// Errors: no EGL, no surfaceless platform, no OpenGL 3.
  [[nodiscard]] static Result<Offscreen> create(int width, int height);
  Offscreen(Offscreen&&) noexcept;
  Offscreen& operator=(Offscreen&&) noexcept;
  ~Offscreen();

  [[nodiscard]] Picture render(ImDrawData& data);
  /// Uploads the atlas again after its fonts changed.
  void renew_fonts();

 private:
  struct State;
  explicit Offscreen(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardscope::ui
