// Any bytes as the stream between two processes: frames are cut, messages are read or refused, and
// what is read is written the same.

#include <string>

#include "engine/service/frame.hpp"
#include "engine/service/message.hpp"
#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

SHARDSCOPE_FUZZ_TARGET(protocol) {
  namespace service = shardscope::service;
  service::FrameReader reader;
  const std::string_view bytes = shardscope::fuzz::text_of(input);
  reader.feed(bytes.substr(0, bytes.size() / 2));
  for (int half = 0; half < 2; ++half) {
    while (true) {
      const auto frame = reader.next();
      if (!frame || !*frame) break;
      const auto message = service::message_of(**frame);
      if (!message) {
        static_cast<void>(service::id_of_refused(**frame));
        continue;
      }
      const service::Frame written = service::frame_of(*message);
      const auto again = service::message_of(written);
      SHARDSCOPE_CHECK(again.has_value(), "what was written is read");
      SHARDSCOPE_CHECK(service::frame_of(*again) == written, "reading loses nothing");
    }
    if (half == 0) reader.feed(bytes.substr(bytes.size() / 2));
  }
}
