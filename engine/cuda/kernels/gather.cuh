#pragma once
// Forward lookups and copies of rows. Block row y works on call y, groups of lanes on its rows.

#include "engine/cuda/kernels/sum_rows.cuh"

namespace shardscope::engine::cuda {

/// A call with what the host found out about it.
struct PoolCall {
  GatherPool call;
  const std::int64_t* offsets = nullptr;  ///< first id of each bag, counted from offsets[0]
  bool vector = false;                    ///< rows and outputs are aligned to whole vectors
};
struct RowsCall {
  GatherRows call;
  bool vector = false;
};
struct ColumnsCall {
  CopyColumns call;
  bool vector = false;
};

/// Terms in device memory; the sum goes to `store`'s target, or to the terms' own without one.
struct SumCall {
  const CopyColumns* terms = nullptr;
  std::int32_t count = 0;
  CopyColumns store;
  bool scaled = false;  ///< there is a store: its scale and factor apply
  bool vector = false;
};

template <int V, class Row>
SHARDSCOPE_DEVICE void pool_bags(const PoolCall& pool) {
  const GatherPool& call = pool.call;
  ScatteredRows<Row> source;
  source.rows = static_cast<const Row*>(call.rows);
  source.stride = call.row_stride;
  source.index = call.ids;
  source.wide_index = call.key == KeyType::i64;
  source.weights = call.weights;
  const RowGroup group = row_group(call.width, V);
  for (std::int64_t bag = group.first; bag < call.bags; bag += group.step) {
    const std::int64_t begin = pool.offsets[bag] - pool.offsets[0];
    const std::int64_t end = pool.offsets[bag + 1] - pool.offsets[0];
    for (std::int64_t column = group.lane * V; column < call.width; column += group.lanes * V) {
      Lane<V> sum = sum_rows<V>(source, begin, end, column);
      const std::int64_t at = bag * call.out_stride + column;
      with_row_type(call.out_type, [&](auto out) SHARDSCOPE_INLINE {
        auto* to = static_cast<decltype(out)*>(call.out) + at;
        if (call.accumulate) {
          const Lane<V> before = load_lane<V>(to);
          for (int k = 0; k < V; ++k) sum.v[k] = before.v[k] + sum.v[k];
        }
        store_lane<V>(to, sum);
      });
    }
  }
}

SHARDSCOPE_KERNEL void gather_pool_kernel(const PoolCall* calls) {
  const PoolCall& pool = calls[block_y()];
  with_row_type(pool.call.row_type, [&](auto row) SHARDSCOPE_INLINE {
    if (pool.vector) {
      pool_bags<kVector, decltype(row)>(pool);
    } else {
      pool_bags<1, decltype(row)>(pool);
    }
  });
}

template <int V, class Row>
SHARDSCOPE_DEVICE void gather_each(const GatherRows& call) {
  const RowGroup group = row_group(call.width, V);
  for (std::int64_t n = group.first; n < call.count; n += group.step) {
    const Row* row =
        static_cast<const Row*>(call.rows) + id_at(call.ids, call.key, n) * call.row_stride;
    for (std::int64_t column = group.lane * V; column < call.width; column += group.lanes * V) {
      const Lane<V> values = load_lane<V>(row + column);
      with_row_type(call.out_type, [&](auto out) SHARDSCOPE_INLINE {
        store_lane<V>(static_cast<decltype(out)*>(call.out) + n * call.out_stride + column, values);
      });
    }
  }
}

SHARDSCOPE_KERNEL void gather_rows_kernel(const RowsCall* calls) {
  const RowsCall& rows = calls[block_y()];
  with_row_type(rows.call.row_type, [&](auto row) SHARDSCOPE_INLINE {
    if (rows.vector) {
      gather_each<kVector, decltype(row)>(rows.call);
    } else {
      gather_each<1, decltype(row)>(rows.call);
    }
  });
}

template <int V, class From>
SHARDSCOPE_DEVICE void copy_each(const CopyColumns& call) {
  const RowGroup group = row_group(call.width, V);
  for (std::int64_t r = group.first; r < call.rows; r += group.step) {
    const From* from = static_cast<const From*>(call.from) + r * call.from_stride;
    const float scale = call.scale != nullptr ? call.scale[r] * call.factor : call.factor;
    for (std::int64_t column = group.lane * V; column < call.width; column += group.lanes * V) {
      Lane<V> values = load_lane<V>(from + column);
      for (int k = 0; k < V; ++k) values.v[k] = scale * values.v[k];
      with_row_type(call.to_type, [&](auto to_type) SHARDSCOPE_INLINE {
        auto* to = static_cast<decltype(to_type)*>(call.to) + r * call.to_stride + column;
        if (call.accumulate) {
          const Lane<V> before = load_lane<V>(to);
          for (int k = 0; k < V; ++k) values.v[k] = before.v[k] + values.v[k];
        }
        store_lane<V>(to, values);
      });
    }
  }
}

SHARDSCOPE_KERNEL void copy_columns_kernel(const ColumnsCall* calls) {
  const ColumnsCall& columns = calls[block_y()];
  with_row_type(columns.call.from_type, [&](auto from) SHARDSCOPE_INLINE {
    if (columns.vector) {
      copy_each<kVector, decltype(from)>(columns.call);
    } else {
      copy_each<1, decltype(from)>(columns.call);
    }
  });
}

SHARDSCOPE_DEVICE float row_scale(const CopyColumns& call, std::int64_t row) {
  return call.scale != nullptr ? call.scale[row] * call.factor : call.factor;
}

template <int V>
SHARDSCOPE_DEVICE Lane<V> scaled_lane(const CopyColumns& call, std::int64_t row,
                                      std::int64_t column) {
  Lane<V> values{};
  with_row_type(call.from_type, [&](auto from_type) SHARDSCOPE_INLINE {
    const auto* from = static_cast<const decltype(from_type)*>(call.from);
    values = load_lane<V>(from + row * call.from_stride + column);
  });
  const float scale = row_scale(call, row);
  for (int k = 0; k < V; ++k) values.v[k] = scale * values.v[k];
  return values;
}

template <int V>
SHARDSCOPE_DEVICE void sum_terms(const SumCall& sum) {
  const CopyColumns& store = sum.store;
  const RowGroup group = row_group(store.width, V);
  for (std::int64_t row = group.first; row < store.rows; row += group.step) {
    const float scale = sum.scaled ? row_scale(store, row) : 1.0F;
    for (std::int64_t column = group.lane * V; column < store.width; column += group.lanes * V) {
      Lane<V> total = scaled_lane<V>(sum.terms[0], row, column);
      for (std::int32_t i = 1; i < sum.count; ++i) {
        const Lane<V> term = scaled_lane<V>(sum.terms[i], row, column);
        for (int k = 0; k < V; ++k) total.v[k] += term.v[k];
      }
      for (int k = 0; k < V; ++k) total.v[k] = scale * total.v[k];
      with_row_type(store.to_type, [&](auto to_type) SHARDSCOPE_INLINE {
        auto* to = static_cast<decltype(to_type)*>(store.to) + row * store.to_stride + column;
        if (store.accumulate) {
          const Lane<V> before = load_lane<V>(to);
          for (int k = 0; k < V; ++k) total.v[k] = before.v[k] + total.v[k];
        }
        store_lane<V>(to, total);
      });
    }
  }
}

SHARDSCOPE_KERNEL void sum_columns_kernel(const SumCall* calls) {
  const SumCall& sum = calls[block_y()];
  if (sum.vector) {
    sum_terms<kVector>(sum);
  } else {
    sum_terms<1>(sum);
  }
}

}  // namespace shardscope::engine::cuda
