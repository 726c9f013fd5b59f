#pragma once
// What a codec does, or would do, for each exchange of a layout: the arithmetic that
// planner/codec_choice.hpp decides by, and what the whole iteration makes of it.

#include <string>
#include <vector>

#include "layout/codec_bytes.hpp"
#include "layout/layout.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// One table, direction and hop.
struct CodecAccount {
  std::int32_t table = 0;
  Direction direction = Direction::forward;
  LinkClass hop = LinkClass::inter;
  std::string codec;  ///< the one in place, else the best that is known for the exchange
  bool in_place = false;
  double ratio = 1;
  double chunk_bytes = 0;  ///< uncompressed, from one rank to one rank
  double link_bytes_per_s = 0;
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
  double speedup = 1;                 ///< S of the exchange by itself
  double break_even_bytes_per_s = 0;  ///< of the link, below which the codec pays by itself
  double saves_s = 0;                 ///< iteration without the codec less the iteration with it

  /// S and the break-even with their numbers (GB/s): "1 / (1/40.2 + 1/3.19 + 1/5.22) = 1.89; pays
  /// below 1.93 GB/s".
  [[nodiscard]] std::string formula() const;
};

/// Accounts of every exchange that a codec of options.codecs is known for, those that save the
/// iteration most first. Tables without vectors on a hop, and hops that stay raw whatever the slot
/// says, have none. Backward exchanges are looked at with the codecs allowed for them, and with
/// those in place.
[[nodiscard]] std::vector<CodecAccount> codec_accounts(const PlanContext& context,
                                                       const Layout& layout);

}  // namespace shardscope
