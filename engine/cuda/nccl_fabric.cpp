#include "engine/cuda/nccl_fabric.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/comm/progress.hpp"
#include "engine/cuda/nccl_communicator.hpp"
#include "engine/cuda/nccl_state.hpp"

namespace shardscope::engine::cuda {
namespace {

constexpr std::chrono::milliseconds kWatchPeriod{5};
constexpr std::chrono::microseconds kSettlePeriod{50};

}  // namespace

NcclState::NcclState(const Topology& shape, std::int32_t channel_count,
                     const FabricOptions& fabric_options, NcclPort device)
    : topology(shape),
      channels(channel_count),
      options(fabric_options),
      port(std::move(device)),
      groups(topology),
      board(groups, channels),
      launches(static_cast<std::size_t>(topology.ranks())) {
  const std::int32_t domains = topology.ranks() / topology.fast_domain;
  for (std::int32_t n = 0; n < channels * domains; ++n) {
    publications.push_back(std::make_unique<HostMeeting<PublishedBuffer>>(
        static_cast<std::size_t>(topology.fast_domain)));
  }
  for (std::int32_t n = 0; n < topology.ranks() * channels; ++n) {
    slots.push_back(std::make_unique<NcclSlot>());
  }
}

NcclState::~NcclState() {
  if (watcher.joinable()) {
    {
      const std::lock_guard lock(watch_mutex);
      ending = true;
    }
    wake.notify_one();
    watcher.join();
  }
  for (const auto& slot : slots) {
    if (slot->comm != nullptr) port.nccl->abort(slot->comm);
  }
}

int NcclState::settle(NcclComm comm, int result) const {
  const auto until = Clock::now() + options.deadline;
  while (result == kNcclInProgress && !abort.raised() && Clock::now() < until) {
    std::this_thread::sleep_for(kSettlePeriod);
    if (const int asked = port.nccl->async_error(comm, &result); asked != kNcclSuccess) {
      return asked;
    }
  }
  return result;
}

Error NcclState::nccl_error(int result, std::int32_t rank) const {
  const std::string work = board.work_of(rank);
  return {ErrorKind::runtime,
          fmt::format("NCCL reports '{}' ({}) on rank {}{}{}", port.nccl->error_text(result),
                      result, rank, work.empty() ? "" : " in ", work),
          fmt::format("rank {}", rank), "",
          "A peer may have failed; NCCL_DEBUG=WARN shows what NCCL knows"};
}

// All ranks of a channel at once: each waits for the others.
Status NcclState::connect() {
  for (std::int32_t channel = 0; channel < channels; ++channel) {
    NcclId id;
    int result = port.nccl->get_unique_id(&id);
    if (result == kNcclSuccess) result = port.nccl->group_start();
    for (std::int32_t rank = 0; rank < topology.ranks() && result == kNcclSuccess; ++rank) {
      port.set_device(rank);
      result = port.nccl->init_rank(&slot(rank, channel).comm, topology.ranks(), id, rank);
      if (result == kNcclInProgress) result = kNcclSuccess;
    }
    const int ended = port.nccl->group_end();
    if (result == kNcclSuccess && ended != kNcclInProgress) result = ended;
    for (std::int32_t rank = 0; rank < topology.ranks() && result == kNcclSuccess; ++rank) {
      result = settle(slot(rank, channel).comm, kNcclInProgress);
      if (result != kNcclSuccess) return fail(nccl_error(result, rank));
    }
    if (result != kNcclSuccess) return fail(nccl_error(result, 0));
  }
  watcher = std::thread([this] { watch(); });
  return {};
}

void NcclState::abort_run(const Error& reason) {
  abort.raise(reason);
  launches.wake();
  for (const auto& publication : publications) publication->wake();
  for (const auto& slot : slots) {
    const std::lock_guard lock(slot->mutex);
    if (slot->comm != nullptr) port.nccl->abort(std::exchange(slot->comm, nullptr));
  }
}

bool NcclState::agree(std::int32_t rank, bool ready) {
  std::vector<std::size_t> missing;
  const std::uint8_t own = ready ? 1 : 0;
  const auto* all =
      launches.meet(static_cast<std::size_t>(rank), own, options.deadline, abort, missing);
  if (all != nullptr) return std::find(all->begin(), all->end(), 0) == all->end();
  abort_for({missing.begin(), missing.end()}, rank, "the launch of a graph");
  return false;
}

const std::vector<PublishedBuffer>* NcclState::publish(std::int32_t rank, std::int32_t channel,
                                                       const PublishedBuffer& buffer) {
  const std::int32_t domains = topology.ranks() / topology.fast_domain;
  const std::int32_t domain = topology.domain_of(rank);
  std::vector<std::size_t> missing;
  const auto* all = publications[static_cast<std::size_t>(channel * domains + domain)]->meet(
      static_cast<std::size_t>(topology.rail_of(rank)), buffer, options.deadline, abort, missing);
  if (all != nullptr) return all;
  std::vector<std::int32_t> ranks;
  for (const std::size_t rail : missing) {
    ranks.push_back(domain * topology.fast_domain + static_cast<std::int32_t>(rail));
  }
  abort_for(ranks, rank, "the exchange of buffers that peers write into");
  return nullptr;
}

void NcclState::abort_for(const std::vector<std::int32_t>& missing, std::int32_t rank,
                          const char* what) {
  if (missing.empty()) return;  // aborted before
  const double seconds = static_cast<double>(options.deadline.count()) / 1e9;
  abort_run({ErrorKind::runtime,
             fmt::format("rank {} did not come to {} within {} s", fmt::join(missing, ", "), what,
                         seconds),
             fmt::format("rank {}", rank), "", "A rank may have failed or hang"});
}

void NcclState::watch() {
  std::unique_lock lock(watch_mutex);
  while (!wake.wait_for(lock, kWatchPeriod, [this] { return ending; })) {
    if (abort.raised()) continue;
    for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
      for (std::int32_t channel = 0; channel < channels; ++channel) {
        NcclSlot& here = slot(rank, channel);
        int error = kNcclSuccess;
        {
          const std::lock_guard slot_lock(here.mutex);
          if (here.comm != nullptr) port.nccl->async_error(here.comm, &error);
        }
        if (error != kNcclSuccess && error != kNcclInProgress) abort_run(nccl_error(error, rank));
      }
    }
    const std::int64_t deadline_ns = options.deadline.count();
    if (Status late = board.check_deadline(now_ns(), deadline_ns); !late) abort_run(late.error());
  }
}

NcclFabric::NcclFabric(std::shared_ptr<NcclState> state) : state_(std::move(state)) {}

NcclFabric::~NcclFabric() = default;

Result<std::unique_ptr<NcclFabric>> NcclFabric::create(const Topology& topology,
                                                       std::int32_t channels,
                                                       const FabricOptions& options,
                                                       NcclPort port) {
  if (options.wire.any()) {
    return fail({ErrorKind::usage, "nccl was given wire bandwidths", "--wire",
                 "no bandwidths: its wires are real", "Leave --wire out or use --comm threads"});
  }
  auto state = std::make_shared<NcclState>(topology, channels, options, std::move(port));
  if (Status status = state->connect(); !status) return fail(status.error());
  return std::unique_ptr<NcclFabric>(new NcclFabric(std::move(state)));
}

std::unique_ptr<Communicator> NcclFabric::communicator(std::int32_t rank, std::int32_t channel) {
  return std::make_unique<NcclCommunicator>(state_, rank, channel);
}

void NcclFabric::enter(std::int32_t rank) {
  state_->port.set_device(rank);
}
void NcclFabric::abort(const Error& reason) {
  state_->abort_run(reason);
}
Status NcclFabric::status() const {
  return state_->abort.status();
}

}  // namespace shardscope::engine::cuda
