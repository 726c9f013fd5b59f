#include "tests/engine/cuda/fake_nccl.hpp"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/stream.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"

namespace shardscope::engine::cuda {
namespace {

struct FakeMessage {
  const void* data = nullptr;
  std::size_t bytes = 0;
  bool taken = false;
};

/// The ranks of one unique id.
struct FakeWorld {
  std::mutex mutex;
  std::condition_variable moved;
  std::map<std::pair<int, int>, std::deque<FakeMessage*>> messages;  ///< by (from, to)
};

struct FakeComm {
  std::shared_ptr<FakeWorld> world;
  int rank = 0;
  int polls = 0;  ///< of the initialisation
  bool aborted = false;
};

struct FakeTransfer {
  bool sends = false;
  void* data = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
};

/// Transfers of one group on one stream.
struct FakeGroup {
  std::shared_ptr<FakeComm> comm;
  Stream* stream = nullptr;
  std::vector<FakeTransfer> transfers;
};

std::mutex registry_mutex;
std::map<std::uint64_t, std::weak_ptr<FakeWorld>> worlds;
std::map<void*, std::shared_ptr<FakeComm>> comms;
std::uint64_t next_world = 1;

thread_local int group_depth = 0;
thread_local std::vector<FakeGroup> open_groups;

std::shared_ptr<FakeComm> comm_of(NcclComm comm) {
  const std::lock_guard lock(registry_mutex);
  const auto found = comms.find(comm);
  return found == comms.end() ? nullptr : found->second;
}

/// Waits until `ready` or the abort of this rank; false after an abort.
template <class Ready>
bool wait_for(FakeComm& comm, std::unique_lock<std::mutex>& lock, const Ready& ready) {
  comm.world->moved.wait(lock, [&] { return comm.aborted || ready(); });
  return !comm.aborted;
}

/// Copies happen under the world's lock: who was aborted is read no more.
void run_group(FakeGroup& group) {
  FakeComm& comm = *group.comm;
  FakeWorld& world = *comm.world;
  std::unique_lock lock(world.mutex);
  if (fake_nccl_faults().hanging_rank == comm.rank) {
    wait_for(comm, lock, [] { return false; });
  }
  std::deque<FakeMessage> sent;
  for (const FakeTransfer& transfer : group.transfers) {
    if (!transfer.sends || comm.aborted) continue;
    FakeMessage& message = sent.emplace_back(FakeMessage{transfer.data, transfer.bytes});
    world.messages[{comm.rank, transfer.peer}].push_back(&message);
  }
  world.moved.notify_all();
  for (const FakeTransfer& transfer : group.transfers) {
    if (transfer.sends) continue;
    auto& queue = world.messages[{transfer.peer, comm.rank}];
    const bool came = wait_for(
        comm, lock, [&] { return !queue.empty() && queue.front()->bytes == transfer.bytes; });
    if (!came) break;
    std::memcpy(transfer.data, queue.front()->data, transfer.bytes);
    queue.front()->taken = true;
    queue.pop_front();
    world.moved.notify_all();
  }
  for (const FakeMessage& message : sent) {
    if (!wait_for(comm, lock, [&] { return message.taken; })) break;
  }
  if (!comm.aborted) return;
  // The messages end with this call.
  for (auto& [key, queue] : world.messages) {
    if (key.first == comm.rank) queue.clear();
  }
}

int add_transfer(NcclComm comm, void* stream, const FakeTransfer& transfer) {
  const std::shared_ptr<FakeComm> owner = comm_of(comm);
  if (!owner || group_depth == 0) return 4;
  for (FakeGroup& group : open_groups) {
    if (group.comm == owner && group.stream == stream) {
      group.transfers.push_back(transfer);
      return kNcclSuccess;
    }
  }
  open_groups.push_back({owner, static_cast<Stream*>(stream), {transfer}});
  return kNcclSuccess;
}

/// Of graphs: every launch runs them.
std::deque<FakeGroup>& captured_groups() {
  static std::deque<FakeGroup> groups;
  return groups;
}

int end_group() {
  if (--group_depth > 0) return kNcclSuccess;
  for (FakeGroup& group : open_groups) {
    Stream* stream = group.stream;
    FakeGroup* work = nullptr;
    if (is_captured(stream)) {
      const std::lock_guard lock(registry_mutex);
      work = &captured_groups().emplace_back(std::move(group));
      enqueue_in_order(stream, [work] { run_group(*work); });
    } else {
      work = new FakeGroup(std::move(group));
      stream->enqueue([work] {
        run_group(*work);
        delete work;
      });
    }
    ++fake_nccl_faults().groups;
  }
  open_groups.clear();
  return kNcclSuccess;
}

int init_rank(NcclComm* comm, int /*ranks*/, NcclId id, int rank) {
  if (fake_nccl_faults().init_error != kNcclSuccess) return fake_nccl_faults().init_error;
  std::uint64_t number = 0;
  std::memcpy(&number, id.bytes, sizeof(number));
  const std::lock_guard lock(registry_mutex);
  std::shared_ptr<FakeWorld> world = worlds[number].lock();
  if (!world) {
    world = std::make_shared<FakeWorld>();
    worlds[number] = world;
  }
  auto made = std::make_shared<FakeComm>();
  made->world = world;
  made->rank = rank;
  *comm = made.get();
  comms[*comm] = made;
  return kNcclInProgress;
}

int async_error(NcclComm comm, int* error) {
  const std::shared_ptr<FakeComm> owner = comm_of(comm);
  if (!owner) return 4;
  const std::lock_guard lock(owner->world->mutex);
  *error = owner->polls++ < 2 ? kNcclInProgress : kNcclSuccess;
  if (*error == kNcclSuccess && fake_nccl_faults().failing_rank == owner->rank) {
    *error = kNcclRemoteError;
  }
  return kNcclSuccess;
}

int abort_comm(NcclComm comm) {
  const std::shared_ptr<FakeComm> owner = comm_of(comm);
  if (!owner) return 4;
  {
    const std::lock_guard lock(owner->world->mutex);
    owner->aborted = true;
  }
  owner->world->moved.notify_all();
  const std::lock_guard lock(registry_mutex);
  comms.erase(comm);
  return kNcclSuccess;
}

NcclApi make_api() {
  NcclApi api;
  api.get_version = [](int* version) {
    *version = 22809;
    return kNcclSuccess;
  };
  api.get_unique_id = [](NcclId* id) {
    const std::lock_guard lock(registry_mutex);
    std::memcpy(id->bytes, &next_world, sizeof(next_world));
    ++next_world;
    return kNcclSuccess;
  };
  api.init_rank = init_rank;
  api.async_error = async_error;
  api.abort = abort_comm;
  api.group_start = [] {
    ++group_depth;
    return kNcclSuccess;
  };
  api.group_end = end_group;
  api.send = [](const void* data, std::size_t count, int, int peer, NcclComm comm, void* stream) {
    return add_transfer(comm, stream, {true, const_cast<void*>(data), count, peer});
  };
  api.receive = [](void* data, std::size_t count, int, int peer, NcclComm comm, void* stream) {
    return add_transfer(comm, stream, {false, data, count, peer});
  };
  api.error_text = [](int error) {
    return error == kNcclRemoteError ? "remote process exited or there was a network error"
                                     : "invalid argument";
  };
  api.last_error = [](NcclComm) { return ""; };
  return api;
}

}  // namespace

FakeNcclFaults& fake_nccl_faults() {
  static FakeNcclFaults faults;
  return faults;
}

const NcclApi& fake_nccl_api() {
  static const NcclApi api = make_api();
  return api;
}

NcclPort fake_nccl_port() {
  static const std::unique_ptr<Ops> ops = make_cpu_ops();
  NcclPort port;
  port.nccl = &fake_nccl_api();
  port.ops = ops.get();
  port.native = [](Stream& stream) { return static_cast<void*>(&stream); };
  port.set_device = [](std::int32_t) {};
  port.allocate = [](std::int32_t, std::int64_t bytes) {
    return std::calloc(1, static_cast<std::size_t>(bytes));
  };
  port.free = [](void* memory) { std::free(memory); };
  port.peer_access = true;
  return port;
}

}  // namespace shardscope::engine::cuda
