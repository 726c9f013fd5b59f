#pragma once
// The desktop before an engine of a script: it says what a test wrote down, and more once the test
// lets it.

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "desktop_fixture.hpp"
#include "engine/service/frame.hpp"
#include "engine/service/message.hpp"

namespace shardscope::ui {

class FakeEngineFixture : public DesktopFixture {
 protected:
  static std::string bytes_of(const service::Message& message) {
    return service::encode(service::frame_of(message)).value();
  }
  static std::string bytes_of(const std::vector<service::Message>& messages) {
    std::string all;
    for (const service::Message& message : messages) all += bytes_of(message);
    return all;
  }
  /// The greeting and the answer to the hello, which is request 1.
  static std::string greeting() {
    return std::string(service::kGreeting) + bytes_of(service::Reply{1, "{\"protocol\":1}"});
  }

  /// An engine that says `words`, then does what the script says.
  void use_engine(const std::string& words, const std::string& then) {
    std::ofstream(home_ + "/words", std::ios::binary) << words;
    const std::string script = home_ + "/engine";
    std::ofstream(script) << "#!/bin/sh\ncat " << home_ << "/words\n" << then << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    desktop_.engine_line = script;
    desktop_.run.session_path = home_ + "/run.shardscope";
  }
  /// The same; after go_on() it says `later` and waits for its end.
  void use_engine_in_two_parts(const std::string& words, const std::string& later) {
    std::ofstream(home_ + "/later", std::ios::binary) << later;
    use_engine(words, "until [ -e " + home_ + "/go ]; do sleep 0.02; done\ncat " + home_ +
                          "/later\ncat > /dev/null");
  }
  void go_on() { std::ofstream(home_ + "/go") << "now"; }

  /// Draws frames until that holds; false after ten seconds.
  bool frames_until(const std::function<bool()>& done) {
    for (int i = 0; i < 2000; ++i) {
      driver_.frame();
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  [[nodiscard]] bool running() const {
    return desktop_.engine != nullptr && desktop_.engine->job() != nullptr;
  }
};

}  // namespace shardscope::ui
