// Comma separated: plain fields (sample number, click, ...), then "field:id", any number of each.

#include <algorithm>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"
#include "engine/batches/recorded/slot_columns.hpp"

namespace shardscope::engine {
namespace {

class FieldParser final : public RowParser {
 public:
  [[nodiscard]] Status parse(std::string_view line, const LinePlace& place,
                             RecordedStream& stream) override {
    split(line, ',', fields_);
    const auto first = std::find_if(fields_.begin(), fields_.end(), [](std::string_view field) {
      return field.find(':') != std::string_view::npos;
    });
    const auto plain = static_cast<std::size_t>(first - fields_.begin());
    if (stream.samples == 0) plain_ = plain;
    if (plain != plain_) {
      return malformed(place, fmt::format("{} fields stand before the first field:id", plain),
                       fmt::format("{}, as on the first line", plain_));
    }
    if (plain > 0) {
      // (number, click, purchase), (click, purchase) or (click)
      const auto label = parse_label(fields_[plain >= 3 ? 1 : 0], place);
      if (!label) return fail(label.error());
      stream.labels.push_back(*label);
    }
    for (auto field = first; field != fields_.end(); ++field) {
      const std::size_t colon = field->find(':');
      if (colon == std::string_view::npos || colon == 0) {
        return malformed(place, fmt::format("{} has no field", shown(*field)), "field:id");
      }
      auto status = columns_.add(field->substr(0, colon), field->substr(colon + 1), place, stream);
      if (!status) return status;
    }
    for (IdColumn& column : stream.columns) column.end_sample();
    return {};
  }

 private:
  std::vector<std::string_view> fields_;
  SlotColumns columns_;
  std::size_t plain_ = 0;
};

}  // namespace

std::unique_ptr<RowParser> make_field_parser() {
  return std::make_unique<FieldParser>();
}

}  // namespace shardscope::engine
