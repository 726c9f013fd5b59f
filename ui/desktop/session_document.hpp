#pragma once
// The document that a session holds: its last model and machine, all layouts of it as a history.

#include <memory>

#include "layout/result.hpp"
#include "storage/session.hpp"
#include "ui/model/document.hpp"

namespace shardscope::ui {

/// The model and machine of the latest layout; error where the session has no layout.
[[nodiscard]] Result<std::unique_ptr<Document>> document_of(const storage::Session& session);

}  // namespace shardscope::ui
