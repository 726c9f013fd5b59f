#include "storage/access.hpp"

#include "storage/session_state.hpp"

namespace shardscope::storage {

ReadAccess::ReadAccess(const Session& session)
    : lock_(session.state().mutex), database_(&session.state().database) {}

Result<WriteAccess> WriteAccess::begin(const Session& session) {
  if (!session.writable()) {
    return fail({ErrorKind::runtime, "the session was opened for reading only", session.path(), "",
                 "Open it for writing"});
  }
  ReadAccess access(session);
  Result<Transaction> transaction = Transaction::begin(access.database());
  if (!transaction) return fail(transaction.error());
  return WriteAccess(std::move(access), std::move(*transaction));
}

}  // namespace shardscope::storage
