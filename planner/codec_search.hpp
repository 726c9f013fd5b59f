#pragma once
// Codecs for a layout under the simulator: kept where the iteration gets shorter, refused where
// encoding and decoding cost more than the wire saves.

#include <functional>

#include "planner/plan_context.hpp"

namespace shardscope {

/// The layout with codecs in its tables' slots, of those allowed (context.options.allowed_codecs;
/// which slots: planner/codec_options.hpp). Starts from the layout's own codecs, from none and from
/// those that planner/codec_choice.hpp chooses, then changes one slot at a time, tables that send
/// most first, while that shortens the simulated iteration and `go_on` agrees. Never slower than
/// the layout with its own codecs as far as they are allowed. A cluster whose coded messages'
/// buffers do not fit a rank beside the rest is left without codecs.
[[nodiscard]] Layout with_paying_codecs(const PlanContext& context, const Layout& layout,
                                        const std::function<bool()>& go_on);

}  // namespace shardscope
