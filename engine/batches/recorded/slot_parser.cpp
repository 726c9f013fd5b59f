// "slot:id" lines: any slot any number of times, in any order; click or label, dense_feature.

#include <map>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"
#include "engine/batches/recorded/slot_columns.hpp"

namespace shardscope::engine {
namespace {

class SlotParser final : public RowParser {
 public:
  [[nodiscard]] Status parse(std::string_view line, const LinePlace& place,
                             RecordedStream& stream) override {
    std::int64_t labels = 0;
    std::size_t dense = 0;
    split(line, ' ', tokens_);
    for (const std::string_view token : tokens_) {
      if (token.empty()) continue;  // several spaces, or one at the end
      const std::size_t colon = token.rfind(':');
      if (colon == std::string_view::npos || colon == 0) {
        return malformed(place, fmt::format("{} has no slot", shown(token)), "slot:id");
      }
      const std::string_view slot = token.substr(0, colon);
      const std::string_view text = token.substr(colon + 1);
      if (slot == "click" || slot == "label") {
        const auto label = parse_label(text, place);
        if (!label) return fail(label.error());
        stream.labels.push_back(*label);
        ++labels;
      } else if (slot == "dense_feature") {
        const auto value = parse_number(text);
        if (!value) {
          return malformed(place, fmt::format("dense_feature is {}", shown(text)), "a number");
        }
        stream.dense.push_back(static_cast<float>(*value));
        ++dense;
      } else if (auto status = columns_.add(slot, text, place, stream); !status) {
        return status;
      }
    }
    return finish(place, labels, dense, stream);
  }

 private:
  Status finish(const LinePlace& place, std::int64_t labels, std::size_t dense,
                RecordedStream& stream) {
    if (stream.samples == 0) {
      labels_ = labels;
      for (std::size_t i = 0; i < dense; ++i) {
        stream.dense_names.push_back(fmt::format("dense_feature{}", i));
      }
    }
    if (labels != labels_ || labels > 1) {
      return malformed(place, fmt::format("the line has {} labels", labels),
                       labels_ == 0 ? "none, as on the first line" : "one click or label");
    }
    if (dense != stream.dense_names.size()) {
      return malformed(place, fmt::format("the line has {} dense_feature values", dense),
                       fmt::format("{}, as on the first line", stream.dense_names.size()));
    }
    for (IdColumn& column : stream.columns) column.end_sample();
    return {};
  }

  std::vector<std::string_view> tokens_;
  SlotColumns columns_;
  std::int64_t labels_ = 0;
};

}  // namespace

std::unique_ptr<RowParser> make_slot_parser() {
  return std::make_unique<SlotParser>();
}

}  // namespace shardscope::engine
