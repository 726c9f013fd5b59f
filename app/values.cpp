#include "app/values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "layout/names.hpp"

namespace shardscope::app {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

tl::unexpected<Error> bad_value(const std::string& option, const std::string& text,
                                std::string expected) {
  return fail({ErrorKind::usage, fmt::format("'{}' is not a value", text), option,
               std::move(expected), ""});
}

}  // namespace

Result<double> parse_share(const std::string& text, const std::string& option) {
  const bool percent = text.ends_with('%');
  const auto value = number(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
  const double share = value.value_or(0) / (percent ? 100 : 1);
  if (!(share > 0 && share < 1)) return bad_value(option, text, "a share such as 1% or 0.01");
  return share;
}

Result<double> parse_seconds(const std::string& text, const std::string& option) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1e-3}, {"min", 60}, {"s", 1}, {"m", 60}, {"h", 3600}};
  std::string_view digits = text;
  double unit = 1;
  for (const auto& [name, seconds] : kUnits) {
    if (digits.ends_with(name)) {
      digits.remove_suffix(name.size());
      unit = seconds;
      break;
    }
  }
  const double seconds = number(digits).value_or(0) * unit;
  if (!(seconds > 0 && seconds <= 30 * 86400.0)) {
    return bad_value(option, text, "a time such as 60s, 500ms, 2min or 1h");
  }
  return seconds;
}

Result<std::uint64_t> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return bad_value("--seed", text, "a whole number from 0 to 18446744073709551615");
  }
  return seed;
}

Result<engine::WireThrottle> parse_wire(const std::string& text) {
  if (text.empty()) return engine::WireThrottle{};
  const std::size_t comma = text.find(',');
  const auto intra = number(std::string_view(text).substr(0, comma));
  const auto inter =
      comma == std::string::npos ? intra : number(std::string_view(text).substr(comma + 1));
  if (!intra || !inter || !(*intra > 0) || !(*inter > 0)) {
    return bad_value("--wire", text, "GB/s for both link classes (10) or intra,inter (10,2)");
  }
  return engine::WireThrottle{*intra * 1e9, *inter * 1e9};
}

Result<ScheduleKind> parse_schedule(const std::string& text) {
  if (const auto kind = parse_name<ScheduleKind>(text)) return *kind;
  return bad_value("--schedule", text, "serial, intra or inter");
}

Result<Executor> parse_executor(const std::string& text) {
  if (const auto executor = parse_name<Executor>(text)) return *executor;
  return bad_value("--executor", text, "engine, hugectr or torchrec");
}

Result<engine::DecayKind> parse_decay(const std::string& text) {
  if (const auto kind = engine::decay_kind(text)) return *kind;
  return bad_value("--decay", text, "none, step, linear, logarithmic or constant");
}

Result<engine::RangePolicy> parse_range_policy(const std::string& text) {
  if (text == "error") return engine::RangePolicy::error;
  if (text == "wrap") return engine::RangePolicy::wrap;
  return bad_value("--range-policy", text, "error or wrap");
}

Result<engine::cuda::DensePrecision> parse_dense_math(const std::string& text) {
  if (text == "tf32") return engine::cuda::DensePrecision::tf32;
  if (text == "bf16") return engine::cuda::DensePrecision::bf16;
  if (text == "host") return engine::cuda::DensePrecision::host;
  return bad_value("--dense-math", text, "tf32, bf16 or host");
}

Result<engine::CommKind> parse_comm(const std::string& backend, const std::string& comm) {
  if (backend == "cuda") {
    if (comm == "loopback") return engine::CommKind::loopback;
    if (comm == "nccl") return engine::CommKind::nccl;
    if (comm != "threads") return bad_value("--comm", comm, "loopback or nccl");
    return fail({ErrorKind::usage, "threads connects CPU ranks, not GPUs", "--comm threads",
                 "loopback (all ranks on one GPU) or nccl (a GPU a rank) with --backend cuda", ""});
  }
  if (backend == "sim") {
    return fail(
        {ErrorKind::usage, "this command needs a device that runs", "--backend sim", "cpu", ""});
  }
  if (backend != "cpu") return bad_value("--backend", backend, "cpu, cuda or sim");
  if (comm == "threads") return engine::CommKind::threads;
  if (comm == "loopback") return engine::CommKind::loopback;
  if (comm == "nccl") {
    return fail({ErrorKind::usage, "NCCL connects GPUs, not CPU ranks", "--comm nccl",
                 "threads or loopback with --backend cpu", ""});
  }
  return bad_value("--comm", comm, "threads, loopback or nccl");
}

}  // namespace shardscope::app
