#pragma once
// gzip undone piece by piece, so that what lies before a break is kept to the last byte.

#include <cstddef>
#include <memory>

#include "storage/import/unpack.hpp"

namespace shardscope::storage {

/// The bytes of `packed`: unpacked where they begin as gzip (members after each other are one), as
/// they are where not. Damaged or cut-off data ends the stream: see damaged().
class Gunzip : public ByteStream {
 public:
  /// `packed` outlives this.
  explicit Gunzip(ByteStream& packed);
  ~Gunzip() override;
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Errors: those of `packed`.
  [[nodiscard]] Result<std::size_t> read(char* out, std::size_t bytes) override;
  [[nodiscard]] bool damaged() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardscope::storage
