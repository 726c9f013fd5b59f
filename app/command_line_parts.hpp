#pragma once
// What the commands' option lists share. Only app/command_line*.cpp may include this.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/options.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

/// A whole number from 1.
[[nodiscard]] CLI::Validator positive();

/// What is wrong with a command line, in our words: unknown options and commands with the nearest
/// known name. `first` is the first argument, or empty.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& error,
                                const std::string& first);

/// What parsing leaves behind: the command to run, bound to its options.
struct Chosen {
  std::function<Status()> command;
};

/// Gives `target` the parsed value of an option whose text has a form of its own.
template <class T, class Parse>
CLI::callback_t into(T& target, Parse parse) {
  return [&target, parse](const CLI::results_t& texts) {
    const auto value = parse(texts.front());
    if (!value) throw CLI::ValidationError(to_string(value.error()));
    target = *value;
    return true;
  };
}

/// --json.
void add_json(CLI::App& command, bool& json);
/// --workload, --topology, --ranks, --batch, --rows-cap.
void add_inputs(CLI::App& command, InputOptions& options);
void add_no_dense(CLI::App& command, bool& no_dense);
void add_layout(CLI::App& command, std::string& layout);
void add_seed(CLI::App& command, std::uint64_t& seed, const char* of);
void add_range_policy(CLI::App& command, engine::RangePolicy& policy);

/// The command's options live in a shared object that its callback binds.
template <class Options>
std::shared_ptr<Options> choose(CLI::App& command, Chosen& chosen,
                                Status (*function)(const Options&)) {
  auto options = std::make_shared<Options>();
  command.callback([&chosen, options, function] {
    chosen.command = [options, function] { return function(*options); };
  });
  return options;
}

/// plan, predict, explain, sweep, diff, calibrate.
void add_plan(CLI::App& app, Chosen& chosen);
void add_predict(CLI::App& app, Chosen& chosen);
void add_explain(CLI::App& app, Chosen& chosen);
void add_sweep(CLI::App& app, Chosen& chosen);
void add_diff(CLI::App& app, Chosen& chosen);
void add_calibrate(CLI::App& app, Chosen& chosen);
/// --calibration.
void add_calibration(CLI::App& command, std::string& calibration);

/// codec, tune-bounds; the codecs of a run.
void add_codec(CLI::App& app, Chosen& chosen);
void add_tune_bounds(CLI::App& app, Chosen& chosen);
/// `whose` vectors the codecs are for.
void add_codec_request(CLI::App& command, CodecRequest& request, const char* whose);
/// Bound and backward codec of a request; `backward` describes the latter.
void add_codec_terms(CLI::App& command, CodecRequest& request, const char* backward);
void add_training_codecs(CLI::App& command, TrainOptions& options);

}  // namespace shardscope::app
