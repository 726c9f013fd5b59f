#include "tests/storage/import/packed_file.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <fstream>
#include <stdexcept>

#include "storage/unique.hpp"

namespace shardscope::test {
namespace {

using Writer = storage::Unique<archive*, ::archive_write_free, nullptr>;

void choose(archive* writer, Packing packing) {
  if (packing == Packing::gzip || packing == Packing::tar_gz)
    ::archive_write_add_filter_gzip(writer);
  if (packing == Packing::zstd) ::archive_write_add_filter_zstd(writer);
  switch (packing) {
    case Packing::gzip:
    case Packing::zstd:
      ::archive_write_set_format_raw(writer);
      return;
    case Packing::tar_gz:
      ::archive_write_set_format_ustar(writer);
      return;
    case Packing::pax:
      ::archive_write_set_format_pax(writer);
      return;
    case Packing::gnu_tar:
      ::archive_write_set_format_gnutar(writer);
      return;
    case Packing::zip:
      ::archive_write_set_format_zip(writer);
      return;
  }
}

la_ssize_t append(archive*, void* out, const void* bytes, std::size_t count) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

}  // namespace

std::string packed(Packing packing, const PackedFiles& files) {
  std::string out;
  const Writer writer(::archive_write_new());
  choose(writer.get(), packing);
  ::archive_write_set_bytes_in_last_block(writer.get(), 1);
  const auto must = [&](int answer) {
    if (answer != ARCHIVE_OK) throw std::runtime_error(::archive_error_string(writer.get()));
  };
  must(::archive_write_open(writer.get(), &out, nullptr, append, nullptr));
  for (const auto& [name, bytes] : files) {
    const storage::Unique<archive_entry*, ::archive_entry_free, nullptr> entry(
        ::archive_entry_new());
    ::archive_entry_set_pathname(entry.get(), name.c_str());
    ::archive_entry_set_filetype(entry.get(), AE_IFREG);
    ::archive_entry_set_perm(entry.get(), 0644);
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    must(::archive_write_header(writer.get(), entry.get()));
    if (::archive_write_data(writer.get(), bytes.data(), bytes.size()) < 0) must(ARCHIVE_FATAL);
  }
  must(::archive_write_close(writer.get()));
  return out;
}

std::string write_packed(const std::string& path, Packing packing, const PackedFiles& files) {
  std::ofstream(path, std::ios::binary) << packed(packing, files);
  return path;
}

}  // namespace shardscope::test
