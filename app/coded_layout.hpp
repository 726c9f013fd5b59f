#pragma once
// The codecs that a command line asks for, in a layout's slots.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/codec_tuning.hpp"
#include "app/console.hpp"
#include "app/options.hpp"

namespace shardscope::app {

struct CodedLayout {
  Layout layout;
  std::optional<TunedCodecs> tuned;  ///< what --codec auto rests on
};

/// The layout as the request wants it: unchanged; one codec for all tables between fast domains; or
/// the selector's choice for every table and hop, at the bandwidth of the run's wire or the
/// topology's links, from tables measured here. Where the choice refuses, vectors travel raw.
[[nodiscard]] Result<CodedLayout> coded_layout(Layout layout, const Inputs& inputs,
                                               const CodecRequest& request, const RunOptions& run);

/// Table by table: class, bound, codec and why; hops that no vectors take are left out.
[[nodiscard]] std::string tuned_codecs_text(const Inputs& inputs, const TunedCodecs& tuned,
                                            const Console& console);

/// The same as an array; null where nothing was tuned.
[[nodiscard]] nlohmann::ordered_json choices_json(const Inputs& inputs, const CodedLayout& coded);

/// Says on stdout what --codec auto chose; nothing else.
void print_choices(const Inputs& inputs, const CodedLayout& coded);

}  // namespace shardscope::app
