// Criteo's own files: no header, tabs, label, 13 counts, 26 categories as 8 hex digits.

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"

namespace shardscope::engine {
namespace {

constexpr std::size_t kCounts = 13;
constexpr std::size_t kCategories = 26;

class CriteoParser final : public RowParser {
 public:
  [[nodiscard]] Status begin(RecordedStream& stream) override {
    for (std::size_t i = 1; i <= kCounts; ++i) stream.dense_names.push_back(fmt::format("I{}", i));
    for (std::size_t i = 1; i <= kCategories; ++i) {
      stream.columns.emplace_back(fmt::format("C{}", i), true);
    }
    return {};
  }

  [[nodiscard]] Status parse(std::string_view line, const LinePlace& place,
                             RecordedStream& stream) override {
    split(line, '\t', fields_);
    if (fields_.size() != 1 + kCounts + kCategories) {
      return malformed(place, fmt::format("the line has {} fields", fields_.size()),
                       "40 fields separated by tabs: label, 13 counts, 26 categories");
    }
    const auto label = parse_label(fields_[0], place);
    if (!label) return fail(label.error());
    stream.labels.push_back(*label);
    for (std::size_t i = 0; i < kCounts; ++i) {
      const auto value = parse_criteo_dense(fields_[1 + i], place, stream.dense_names[i]);
      if (!value) return fail(value.error());
      stream.dense.push_back(*value);
    }
    for (std::size_t i = 0; i < kCategories; ++i) {
      stream.columns[i].add(hash_text(fields_[1 + kCounts + i]));
      stream.columns[i].end_sample();
    }
    return {};
  }

 private:
  std::vector<std::string_view> fields_;
};

}  // namespace

std::unique_ptr<RowParser> make_criteo_parser() {
  return std::make_unique<CriteoParser>();
}

}  // namespace shardscope::engine
