#include "app/service/machine_inquiry.hpp"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace shardscope::app {
namespace {

constexpr std::size_t kMostAnswer = std::size_t{1} << 20;

}  // namespace

Result<std::unique_ptr<MachineInquiry>> MachineInquiry::start(
    std::function<void(const Result<std::string>&)> done) {
  auto child = service::ChildProcess::start({"/proc/self/exe", "doctor", "--json"},
                                            service::ChildErrors::inherited, /*dies_with_us=*/true);
  if (!child) return fail(child.error());
  std::unique_ptr<MachineInquiry> inquiry(new MachineInquiry(std::move(*child)));
  inquiry->reader_ =
      std::thread([raw = inquiry.get(), done = std::move(done)] { done(raw->read()); });
  return inquiry;
}

MachineInquiry::~MachineInquiry() {
  child_.kill(SIGKILL);
  if (reader_.joinable()) reader_.join();
}

Result<std::string> MachineInquiry::read() {
  std::string text;
  std::string piece(4096, '\0');
  while (text.size() < kMostAnswer) {
    const ssize_t got = ::read(child_.output().get(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece, 0, static_cast<std::size_t>(got));
  }
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json.dump();
  return fail({ErrorKind::runtime, "this machine could not be looked at", "query machine",
               "what 'shardscope doctor --json' prints", "Run it by hand to see why"});
}

}  // namespace shardscope::app
