// Comma separated numbers without a header: histories of equal length side by side, then single
// ids, prices and a label. Which columns form a history is the reader's choice (find_column).

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"

namespace shardscope::engine {
namespace {

class SequenceParser final : public RowParser {
 public:
  [[nodiscard]] bool needs_survey() const override { return true; }

  [[nodiscard]] Status survey(std::string_view line, const LinePlace& place) override {
    split(line, ',', fields_);
    if (whole_.empty()) whole_.assign(fields_.size(), 1);
    if (auto status = check_fields(place); !status) return status;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!parse_integer(fields_[i])) whole_[i] = 0;
    }
    last_is_label_ = last_is_label_ && (fields_.back() == "0" || fields_.back() == "1");
    return {};
  }

  [[nodiscard]] Status begin(RecordedStream& stream) override {
    const std::size_t features = whole_.size() - (last_is_label_ ? 1 : 0);
    for (std::size_t i = 0; i < features; ++i) {
      if (whole_[i] != 0) {
        stream.columns.emplace_back(fmt::format("{}", i), false);
      } else {
        stream.dense_names.push_back(fmt::format("{}", i));
      }
    }
    return {};
  }

  [[nodiscard]] Status parse(std::string_view line, const LinePlace& place,
                             RecordedStream& stream) override {
    split(line, ',', fields_);
    if (auto status = check_fields(place); !status) return status;
    std::size_t column = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (last_is_label_ && i + 1 == fields_.size()) {
        stream.labels.push_back(fields_[i] == "1" ? 1.0F : 0.0F);
      } else if (whole_[i] != 0) {
        stream.columns[column].add(parse_integer(fields_[i]).value_or(0));
        stream.columns[column++].end_sample();
      } else {
        stream.dense.push_back(static_cast<float>(parse_number(fields_[i]).value_or(0)));
      }
    }
    return {};
  }

 private:
  Status check_fields(const LinePlace& place) const {
    if (fields_.size() != whole_.size()) {
      return malformed(place, fmt::format("the line has {} fields", fields_.size()),
                       fmt::format("{}, as on the first line", whole_.size()));
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!parse_number(fields_[i])) {
        return malformed(place, fmt::format("field {} is {}", i, shown(fields_[i])), "a number");
      }
    }
    return {};
  }

  std::vector<std::string_view> fields_;
  std::vector<char> whole_;  ///< column holds whole numbers only
  bool last_is_label_ = true;
};

}  // namespace

std::unique_ptr<RowParser> make_sequence_parser() {
  return std::make_unique<SequenceParser>();
}

}  // namespace shardscope::engine
