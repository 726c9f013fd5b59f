#pragma once
// Numbers of the cost model that no topology carries. Each with its origin and date; none is fitted
// to one system. Machine constants (efficiencies, latencies) stand in layout's Gpu and LinkModel.

namespace shardscope::cost {

/// A DRAM access moves whole sectors pairs of this size; a row costs its bytes rounded up to it.
/// Origin: 32 B sectors, 64 B DRAM atoms (NVIDIA HBM2/HBM3 parts; 64 B cache lines on x86).
/// Datasheet figures, read 2026-11.
inline constexpr double kSectorBytes = 64;

/// Extra traffic of one random row (activation of its DRAM page, address translation), as bytes.
/// Origin: prior; gives 0.94 of the streaming rate at 512 B rows and 0.67 at 64 B. 2024.
inline constexpr double kRowOverheadBytes = 32;

/// A row found in the last-level cache costs this share of one from memory.
/// Origin: prior, ratio of HBM to L2 bandwidth on A100 and H100. 2024.
inline constexpr double kCachedRowCost = 0.35;

/// Share of the last-level cache that holds hot rows while a batch streams through the rest.
/// Origin: prior, half to each. 2026-11.
inline constexpr double kCacheShare = 0.5;

/// Memory traffic of one looked-up id besides its row: key, offset, row pointer (HugeCTR: 8 B
/// each). Origin: HugeCTR's lookup, counted from its source (commit 2f2016fa). 2026-11.
inline constexpr double kLookupBytesPerKey = 24;

/// Memory traffic of one id in input_dist, at the rank that reads it (label, count, sort by owner:
/// two passes over key and owner) and at the owner (transpose, swizzle, convert to local row).
/// Origin: passes of HugeCTR's data distributor, counted from its kernels (commit 2f2016fa).
/// 2026-11.
inline constexpr double kSourceBytesPerKey = 80;
inline constexpr double kOwnerBytesPerKey = 60;

/// The same for this project's engine, which copies ids whole to the owner of an uncut table: an id
/// at each side; an id list's length at each side; an id of a table cut by rows (two passes over
/// the bags); an id that is looked for in a hash table (dedup); a length's part in index
/// calculation. Origin: measured, stage times of 26 one-kind models on an AMD EPYC (Zen 3).
/// 2026-11-30.
inline constexpr double kEngineBytesPerKey = 20;
inline constexpr double kEngineBytesPerBag = 18;
inline constexpr double kEngineSplitBytesPerKey = 75;
inline constexpr double kEngineDedupBytesPerKey = 160;
inline constexpr double kEngineIndexBytesPerBag = 40;

/// Times that the engine's UB consumers touch a row they asked for: received, laid out; sums laid
/// out, packed, sent. Origin: counted from engine/pipeline/ub.cpp. 2026-11-30.
inline constexpr double kEngineUbForwardPasses = 2;
inline constexpr double kEngineUbBackwardPasses = 3;

/// Kernels of each stage in one iteration; all tables of a cluster are fused.
/// Origin: HugeCTR's operators, counted from its source (commit 2f2016fa). 2026-11.
inline constexpr double kInputDistKernels = 25;
inline constexpr double kLookupKernels = 3;
inline constexpr double kCombineKernels = 2;
inline constexpr double kIndexKernels = 10;
inline constexpr double kReduceKernels = 2;
inline constexpr double kUpdateKernels = 2;

/// The host reads counts and enqueues the exchange of ids behind them: a wait as long as so many
/// launches (30 us at 3 us). Origin: prior. 2026-11.
inline constexpr double kHostWaitLaunches = 10;

/// Passes over samples x width x bytes that a cross layer makes besides its GEMMs (x0 * y + x,
/// bias), and the concatenation of embeddings and bottom output. Origin: HugeCTR's MultiCross
/// layer, counted from its kernels (commit 2f2016fa). 2026-11.
inline constexpr double kCrossForwardPasses = 4;
inline constexpr double kCrossBackwardPasses = 8;
inline constexpr double kConcatPasses = 2;

}  // namespace shardscope::cost
