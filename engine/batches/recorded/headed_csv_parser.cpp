// CSV with a header line. What a column holds is decided from its name and all of its values.

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"

namespace shardscope::engine {
namespace {

enum class ColumnKind : std::uint8_t {
  skip,
  label,
  rating,
  criteo_dense,
  dense,
  id,
  text,
  ids,
  texts
};

struct HeadedColumn {
  std::string name;
  ColumnKind kind = ColumnKind::text;
  bool fixed = false;  ///< the name decided
  bool any = false;    ///< some field is not empty
  bool whole = true;   ///< all fields that are not empty, or all pieces of lists, are integers
  bool number = true;  ///< all fields that are not empty are numbers
  bool list = false;   ///< some field holds '|'
};

/// "I7" for letter 'I'.
bool is_letter_number(std::string_view name, char letter) {
  return name.size() > 1 && name[0] == letter &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_one_of(std::string_view name, const auto& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::equal(name.begin(), name.end(), word.begin(), word.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  });
}

void decide_by_name(HeadedColumn& column, bool label_taken) {
  static constexpr std::array<std::string_view, 5> kLabels = {"label", "click", "clicked",
                                                              "is_click", "target"};
  static constexpr std::array<std::string_view, 1> kRatings = {"rating"};
  static constexpr std::array<std::string_view, 3> kTimes = {"timestamp", "time", "date"};
  column.fixed = true;
  if (!label_taken && is_one_of(column.name, kLabels)) {
    column.kind = ColumnKind::label;
  } else if (!label_taken && is_one_of(column.name, kRatings)) {
    column.kind = ColumnKind::rating;
  } else if (is_one_of(column.name, kTimes)) {
    column.kind = ColumnKind::skip;  // the moment of a sample is no category
  } else if (is_letter_number(column.name, 'I')) {
    column.kind = ColumnKind::criteo_dense;
  } else if (is_letter_number(column.name, 'C')) {
    column.kind = ColumnKind::text;
  } else {
    column.fixed = false;
  }
}

ColumnKind kind_by_values(const HeadedColumn& column) {
  if (!column.any) return ColumnKind::text;
  if (column.list) return column.whole ? ColumnKind::ids : ColumnKind::texts;
  if (column.whole) return ColumnKind::id;
  return column.number ? ColumnKind::dense : ColumnKind::text;
}

class HeadedCsvParser final : public RowParser {
 public:
  HeadedCsvParser(std::vector<HeadedColumn> columns, char separator)
      : columns_(std::move(columns)), separator_(separator) {}

  [[nodiscard]] std::int64_t header_lines() const override { return 1; }
  [[nodiscard]] bool needs_survey() const override { return true; }

  [[nodiscard]] Status survey(std::string_view line, const LinePlace& place) override {
    if (auto status = split_line(line, place); !status) return status;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      HeadedColumn& column = columns_[i];
      if (column.fixed || fields_[i].empty()) continue;
      column.any = true;
      column.list = column.list || fields_[i].find('|') != std::string_view::npos;
      column.number = column.number && parse_number(fields_[i]).has_value();
      split(fields_[i], '|', pieces_);
      column.whole = column.whole && std::all_of(pieces_.begin(), pieces_.end(), [](auto piece) {
                       return parse_integer(piece).has_value();
                     });
    }
    return {};
  }

  [[nodiscard]] Status begin(RecordedStream& stream) override {
    for (HeadedColumn& column : columns_) {
      if (!column.fixed) column.kind = kind_by_values(column);
      switch (column.kind) {
        case ColumnKind::skip:
        case ColumnKind::label:
        case ColumnKind::rating:
          break;
        case ColumnKind::criteo_dense:
        case ColumnKind::dense:
          stream.dense_names.push_back(column.name);
          break;
        case ColumnKind::id:
        case ColumnKind::ids:
          stream.columns.emplace_back(column.name, false);
          break;
        case ColumnKind::text:
        case ColumnKind::texts:
          stream.columns.emplace_back(column.name, true);
          break;
      }
    }
    return {};
  }

  [[nodiscard]] Status parse(std::string_view line, const LinePlace& place,
                             RecordedStream& stream) override {
    if (auto status = split_line(line, place); !status) return status;
    std::size_t id_column = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      switch (columns_[i].kind) {
        case ColumnKind::skip:
          break;
        case ColumnKind::label:
        case ColumnKind::rating:
          if (auto status = add_label(i, place, stream); !status) return status;
          break;
        case ColumnKind::criteo_dense:
        case ColumnKind::dense:
          if (auto status = add_dense(i, place, stream); !status) return status;
          break;
        default:
          add_ids(i, stream.columns[id_column++]);
          break;
      }
    }
    return {};
  }

 private:
  Status split_line(std::string_view line, const LinePlace& place) {
    if (!split_quoted(line, separator_, fields_)) {
      return malformed(place, "a quoted field does not end", "a closing quote before the comma");
    }
    if (fields_.size() != columns_.size()) {
      return malformed(place, fmt::format("the line has {} fields", fields_.size()),
                       fmt::format("{}, as the header", columns_.size()));
    }
    return {};
  }

  Status add_label(std::size_t i, const LinePlace& place, RecordedStream& stream) {
    if (columns_[i].kind == ColumnKind::rating) {
      const auto rating = parse_number(fields_[i]);
      if (!rating) {
        return malformed(place, fmt::format("the rating is {}", shown(fields_[i])), "a number");
      }
      stream.labels.push_back(*rating >= 4 ? 1.0F : 0.0F);
      return {};
    }
    const auto label = parse_label(fields_[i], place);
    if (!label) return fail(label.error());
    stream.labels.push_back(*label);
    return {};
  }

  Status add_dense(std::size_t i, const LinePlace& place, RecordedStream& stream) {
    if (columns_[i].kind == ColumnKind::dense) {
      const double value = fields_[i].empty() ? 0 : parse_number(fields_[i]).value_or(0);
      stream.dense.push_back(static_cast<float>(value));
      return {};
    }
    const auto value = parse_criteo_dense(fields_[i], place, columns_[i].name);
    if (!value) return fail(value.error());
    stream.dense.push_back(*value);
    return {};
  }

  /// A missing whole number or list is an empty bag, a missing text the empty text.
  void add_ids(std::size_t i, IdColumn& column) {
    const ColumnKind kind = columns_[i].kind;
    if (kind == ColumnKind::text) {
      column.add(hash_text(fields_[i]));
    } else if (!fields_[i].empty()) {
      split(fields_[i], '|', pieces_);
      for (const std::string_view piece : pieces_) {
        column.add(column.hashed() ? hash_text(piece) : parse_integer(piece).value_or(0));
      }
    }
    column.end_sample();
  }

  std::vector<HeadedColumn> columns_;
  char separator_;
  std::vector<std::string_view> fields_;
  std::vector<std::string_view> pieces_;
};

}  // namespace

Result<std::unique_ptr<RowParser>> make_headed_csv_parser(std::string_view header,
                                                          const LinePlace& place) {
  const bool tabs = header.find('\t') != std::string_view::npos;
  std::vector<std::string_view> names;
  if (!split_quoted(header, tabs ? '\t' : ',', names)) {
    return malformed(place, "a quoted name does not end", "a closing quote before the comma");
  }
  std::vector<HeadedColumn> columns;
  bool label_taken = false;
  for (const std::string_view name : names) {
    const bool twice = std::any_of(columns.begin(), columns.end(),
                                   [&](const HeadedColumn& other) { return other.name == name; });
    if (name.empty() || twice) {
      return malformed(
          place,
          fmt::format("the header names {} {}", shown(name), twice ? "twice" : "for a column"),
          "a different name for every column");
    }
    HeadedColumn& column = columns.emplace_back();
    column.name = name;
    decide_by_name(column, label_taken);
    label_taken =
        label_taken || column.kind == ColumnKind::label || column.kind == ColumnKind::rating;
  }
  return std::make_unique<HeadedCsvParser>(std::move(columns), tabs ? '\t' : ',');
}

}  // namespace shardscope::engine
