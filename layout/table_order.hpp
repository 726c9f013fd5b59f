#pragma once
// Layouts whose tables stand in another order than the workload's.

#include "layout/layout.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// A layout's file may list the tables in any order: their names say which is which. Left as it is
/// where names differ or repeat; a check then says so.
void put_in_order_of(const Workload& workload, Layout& layout);

}  // namespace shardscope
