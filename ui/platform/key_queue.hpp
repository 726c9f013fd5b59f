#pragma once
// Keys that were pressed and released between two frames. Dear ImGui 1.86 looks at the state of
// keys once a frame and would miss them.

#include <vector>

struct GLFWwindow;

namespace shardscope::ui {

class KeyQueue {
 public:
  /// A press as the window system tells it.
  void press(int key, int mods) { presses_.push_back({key, mods}); }
  /// Between the backend's new frame and Dear ImGui's: puts the presses into the key state. Of a
  /// key pressed twice, the second waits for the frame after the next.
  void begin_frame();
  /// After the frame: keys that are up by now are let go.
  void end_frame(GLFWwindow* window);

 private:
  struct Press {
    int key = 0;
    int mods = 0;
  };
  std::vector<Press> presses_;
  std::vector<int> shown_;   ///< of this frame
  std::vector<int> before_;  ///< of the frame before
};

}  // namespace shardscope::ui
