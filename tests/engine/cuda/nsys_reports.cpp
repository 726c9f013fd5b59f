#include "tests/engine/cuda/nsys_reports.hpp"

#include <stdexcept>

#include "storage/sqlite/database.hpp"
#include "storage/sqlite/statement.hpp"

namespace shardscope {

std::vector<std::string> NsysReports::rows(const std::string& sql) const {
  auto database = storage::Database::open(path_, storage::Database::Open::read_only);
  if (!database) throw std::runtime_error(to_string(database.error()));
  auto statement = database->prepare(sql);
  if (!statement) throw std::runtime_error(to_string(statement.error()));
  std::vector<std::string> lines;
  while (statement->step().value_or(false)) lines.push_back(statement->text(0));
  return lines;
}

std::int64_t NsysReports::number(const std::string& sql) const {
  return std::stoll(rows(sql).at(0));
}

std::vector<std::string> NsysReports::top_kernels() const {
  return rows(
      "WITH total AS (SELECT sum(end - start) AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL) "
      "SELECT names.value || '|' || round(100.0 * sum(k.end - k.start) / total.ns, 1) || '|' || "
      "sum(k.end - k.start) || '|' || count(*) FROM total, CUPTI_ACTIVITY_KIND_KERNEL AS k "
      "LEFT JOIN StringIds AS names ON names.id = coalesce(k.shortName, k.demangledName) "
      "GROUP BY names.value ORDER BY sum(k.end - k.start) DESC");
}

std::vector<std::string> NsysReports::memory_by_direction() const {
  return rows(
      "SELECT oper.label || '|' || count(*) || '|' || sum(end - start) || '|' || sum(bytes) "
      "FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m JOIN ENUM_CUDA_MEMCPY_OPER AS oper ON oper.id = "
      "m.copyKind GROUP BY m.copyKind ORDER BY sum(end - start) DESC");
}

std::vector<std::string> NsysReports::calls() const {
  return rows(
      "SELECT names.value || '|' || count(*) || '|' || avg(end - start) FROM "
      "CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS names ON names.id = r.nameId GROUP BY "
      "names.value ORDER BY sum(end - start) DESC");
}

std::vector<std::string> NsysReports::ranges() const {
  return rows(
      "SELECT DISTINCT coalesce(n.text, names.value) FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS "
      "names ON names.id = n.textId WHERE n.eventType IN (59, 60) AND n.end > n.start ORDER BY 1");
}

}  // namespace shardscope
