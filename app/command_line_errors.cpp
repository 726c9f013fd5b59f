// What a person is told who mistypes a command line.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "app/command_line_parts.hpp"
#include "layout/closest.hpp"

namespace shardscope::app {
namespace {

std::vector<std::string> shown_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> shown_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
  const std::string meant = closest_name(name, names);
  return meant.empty() ? "" : fmt::format("Did you mean {}? ", meant);
}

Error unknown_command(const CLI::App& app, const std::string& first) {
  const std::vector<std::string> names = shown_commands(app);
  Error error{ErrorKind::usage, "a command is missing", "", "one of " + join_names(names), ""};
  if (first.starts_with('-')) {
    error.what = "there is no option " + first;
  } else if (!first.empty()) {
    error.what = "there is no command '" + first + "'";
    error.cure = did_you_mean(first, names);
  }
  return error;
}

/// Options come first: what follows an unknown one is often its value.
Error unknown_argument(const CLI::App& command, const std::vector<std::string>& unknown) {
  for (const std::string& argument : unknown) {
    if (!argument.starts_with('-')) continue;
    const std::string name = argument.substr(0, argument.find('='));
    return {ErrorKind::usage, "there is no option " + name, "", "",
            did_you_mean(name, shown_options(command))};
  }
  return {ErrorKind::usage, fmt::format("'{}' is one argument too many", unknown.front()), "", "",
          ""};
}

/// "NAME: At Most 1 required but received 2", "NAME: 1 required FILE missing".
Error wrong_count(const CLI::App& command, const std::string& text) {
  const CLI::Option* option = command.get_option_no_throw(text.substr(0, text.find(": ")));
  if (option == nullptr) return {ErrorKind::usage, text, "", "", ""};
  Error error{ErrorKind::usage, "its value is missing", option->get_name(), "", ""};
  if (option->get_positional()) error.place = option->get_name(true);
  if (text.ends_with(" missing")) {
    error.expected = option->get_type_name();
    return error;
  }
  const std::string received = text.substr(text.rfind(' ') + 1);
  if (option->get_items_expected_max() == 1) {
    error.what = "it is given " + received + " times";
    error.expected = "it once";
  } else {
    error.what = "there are " + received + " of them";
    error.expected = std::to_string(option->get_items_expected_min());
  }
  return error;
}

/// "Could not convert: NAME = VALUE".
Error wrong_number(const std::string& text) {
  const std::size_t name = text.find(": ");
  const std::size_t value = text.find(" = ");
  if (name == std::string::npos || value == std::string::npos || value < name)
    return {ErrorKind::usage, text, "", "", ""};
  return {ErrorKind::usage, fmt::format("'{}' is not a value", text.substr(value + 3)),
          text.substr(name + 2, value - name - 2), "a number in the range of its kind", ""};
}

Error described(const CLI::App& app, const CLI::ParseError& error, const std::string& first) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return unknown_command(app, first);
  const CLI::App& command = *chosen.front();
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return unknown_argument(command, unknown);
  if (error.get_name() == "ArgumentMismatch") return wrong_count(command, error.what());
  if (error.get_name() == "ConversionError") return wrong_number(error.what());
  std::string text = error.what();
  if (text.ends_with('.')) text.pop_back();
  return {ErrorKind::usage, text, "", "", ""};
}

}  // namespace

CLI::Validator positive() {
  const auto check = [](const std::string& text) -> std::string {
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    const auto [at, error] = std::from_chars(text.data(), end, whole);
    if (error == std::errc{} && at == end && whole > 0) return {};
    return fmt::format("'{}' is not a value; expected a whole number from 1", text);
  };
  return {check, ""};
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& first) {
  Error shown = described(app, error, first);
  const auto chosen = app.get_subcommands();
  shown.cure += fmt::format("'shardscope {}--help' shows how",
                            chosen.empty() ? "" : chosen.front()->get_name() + " ");
  return shown;
}

}  // namespace shardscope::app
