#include "storage/schema_versions.hpp"

#include <array>

namespace shardscope::storage {
namespace {

/// Documents, runs and what a run records.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE TARGET_INFO_SESSION_START_TIME (
  utcEpochNs INTEGER,
  utcTime    TEXT,
  localTime  TEXT
);

CREATE TABLE stages (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE works  (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;

CREATE TABLE workloads (
  id             INTEGER PRIMARY KEY,
  name           TEXT    NOT NULL,
  created_utc_ns INTEGER NOT NULL,
  digest         INTEGER NOT NULL,  -- FNV-1a of json
  json           TEXT    NOT NULL
) STRICT;
CREATE INDEX workloads_digest ON workloads (digest);

CREATE TABLE topologies (
  id             INTEGER PRIMARY KEY,
  name           TEXT    NOT NULL,
  created_utc_ns INTEGER NOT NULL,
  digest         INTEGER NOT NULL,
  json           TEXT    NOT NULL
) STRICT;
CREATE INDEX topologies_digest ON topologies (digest);

CREATE TABLE layouts (
  id              INTEGER PRIMARY KEY,
  name            TEXT    NOT NULL,
  workload        INTEGER REFERENCES workloads (id),
  topology        INTEGER REFERENCES topologies (id),
  parent          INTEGER REFERENCES layouts (id),
  note            TEXT    NOT NULL,
  reference       INTEGER NOT NULL DEFAULT 0,   -- 1: the one others are compared with
  prediction_json TEXT    NOT NULL DEFAULT '',
  created_utc_ns  INTEGER NOT NULL,
  digest          INTEGER NOT NULL,
  json            TEXT    NOT NULL
) STRICT;
CREATE INDEX layouts_digest ON layouts (digest);

CREATE TABLE runs (
  id               INTEGER PRIMARY KEY,
  label            TEXT    NOT NULL,
  mode             TEXT    NOT NULL CHECK (mode IN ('measured', 'emulated', 'simulated')),
  executor         TEXT    NOT NULL,
  backend          TEXT    NOT NULL,
  comm             TEXT    NOT NULL,
  wire             TEXT    NOT NULL,
  schedule         TEXT    NOT NULL,
  seed             TEXT    NOT NULL,             -- decimal, unsigned 64 bits
  global_batch     INTEGER NOT NULL,
  rows_cap         INTEGER NOT NULL,             -- 0: tables at their full size
  ranks            INTEGER NOT NULL,
  workload         INTEGER NOT NULL REFERENCES workloads (id),
  topology         INTEGER NOT NULL REFERENCES topologies (id),
  layout           INTEGER NOT NULL REFERENCES layouts (id),
  environment_json TEXT    NOT NULL,
  start_ns         INTEGER NOT NULL,             -- since the session's start
  end_ns           INTEGER,                      -- NULL: still running, or its program died
  complete         INTEGER NOT NULL DEFAULT 0,   -- 0: running, cancelled, failed or killed
  message          TEXT    NOT NULL DEFAULT '',
  samples_per_s    REAL,
  iteration_ms     REAL,
  critical_path_ms REAL,
  tracing_overhead REAL                          -- traced / untraced - 1
) STRICT;

CREATE TABLE iterations (
  run       INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  block     INTEGER NOT NULL,
  start_ns  INTEGER NOT NULL,                    -- since the run's start
  end_ns    INTEGER NOT NULL,
  warm_up   INTEGER NOT NULL,
  traced    INTEGER NOT NULL,
  loss      REAL,
  PRIMARY KEY (run, iteration)
) STRICT, WITHOUT ROWID;

CREATE TABLE tracks (
  id     INTEGER PRIMARY KEY,
  run    INTEGER NOT NULL,
  rank   INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  spans  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run, rank, stream)
) STRICT;

CREATE TABLE spans (
  track       INTEGER NOT NULL,
  start_ns    INTEGER NOT NULL,                  -- since the run's start
  end_ns      INTEGER NOT NULL,
  busy_ns     INTEGER NOT NULL,
  intra_bytes INTEGER NOT NULL,
  inter_bytes INTEGER NOT NULL,
  rows        INTEGER NOT NULL,
  iteration   INTEGER NOT NULL,
  stage       INTEGER NOT NULL,
  work        INTEGER NOT NULL,
  waiting     INTEGER NOT NULL
) STRICT;

CREATE TABLE dropped (
  run   INTEGER NOT NULL,
  place TEXT    NOT NULL,                        -- recorder | writer
  count INTEGER NOT NULL
) STRICT;
)sql";

/// What is computed from a run's spans, and results that span several runs.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE runs ADD COLUMN traced_iterations INTEGER;  -- that stage_times covers

CREATE INDEX spans_track_start ON spans (track, start_ns);

CREATE TABLE stage_times (
  run         INTEGER NOT NULL,
  rank        INTEGER NOT NULL,
  stage       INTEGER NOT NULL,
  work        INTEGER NOT NULL,
  spans       INTEGER NOT NULL,
  total_ns    INTEGER NOT NULL,                  -- durations, waiting spans excluded
  busy_ns     INTEGER NOT NULL,
  waiting_ns  INTEGER NOT NULL,
  intra_bytes INTEGER NOT NULL,
  inter_bytes INTEGER NOT NULL,
  rows        INTEGER NOT NULL,
  PRIMARY KEY (run, rank, stage, work)
) STRICT, WITHOUT ROWID;

CREATE TABLE levels (
  track            INTEGER NOT NULL,
  level            INTEGER NOT NULL,             -- a node of level l sums up 8^l spans
  node             INTEGER NOT NULL,             -- 0, 1, ... in order of start
  first_start_ns   INTEGER NOT NULL,
  last_start_ns    INTEGER NOT NULL,
  end_ns           INTEGER NOT NULL,
  count            INTEGER NOT NULL,             -- spans
  covered_ns       INTEGER NOT NULL,             -- sum of durations, waiting spans excluded
  busy_ns          INTEGER NOT NULL,
  longest_start_ns INTEGER NOT NULL,
  longest_end_ns   INTEGER NOT NULL,
  longest_stage    INTEGER NOT NULL,
  longest_work     INTEGER NOT NULL,
  longest_waiting  INTEGER NOT NULL,
  first_span       INTEGER NOT NULL,             -- rowid in spans
  PRIMARY KEY (track, level, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_processes (                     -- ranks in Nsight Systems' tables
  run        INTEGER NOT NULL,
  rank       INTEGER NOT NULL,
  global_pid INTEGER NOT NULL,
  PRIMARY KEY (run, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity_stages (                   -- what GPU activity belongs to
  global_pid  INTEGER NOT NULL,
  correlation INTEGER NOT NULL,                  -- correlationId
  iteration   INTEGER NOT NULL,
  stage       INTEGER NOT NULL,
  work        INTEGER NOT NULL,
  PRIMARY KEY (global_pid, correlation)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparisons (
  id                 INTEGER PRIMARY KEY,
  run_a              INTEGER REFERENCES runs (id),
  run_b              INTEGER REFERENCES runs (id),
  label_a            TEXT    NOT NULL,
  label_b            TEXT    NOT NULL,
  mode               TEXT    NOT NULL,
  created_utc_ns     INTEGER NOT NULL,
  ratio              REAL,                       -- throughput of B / throughput of A
  low                REAL,
  high               REAL,
  confidence         REAL,                       -- of [low, high], 0..1
  a_ms               REAL,                       -- per iteration
  b_ms               REAL,
  blocks             INTEGER NOT NULL,           -- of each layout
  looks              INTEGER NOT NULL,
  dropped_iterations INTEGER NOT NULL,           -- settling after a switch
  reason             TEXT    NOT NULL,           -- target | budget | interrupted
  stages_json        TEXT    NOT NULL,           -- differences by stage and rank
  sentence           TEXT    NOT NULL
) STRICT;

CREATE TABLE curves (
  run       INTEGER NOT NULL,
  split     TEXT    NOT NULL,                    -- train | eval
  iteration INTEGER NOT NULL,
  samples   INTEGER NOT NULL,                    -- seen in training so far
  time_ns   INTEGER NOT NULL,                    -- since the run's start
  loss      REAL,
  auc       REAL,
  PRIMARY KEY (run, split, iteration)
) STRICT, WITHOUT ROWID;

CREATE TABLE table_stats (
  workload   INTEGER NOT NULL REFERENCES workloads (id),
  table_name TEXT    NOT NULL,
  source     TEXT    NOT NULL,                   -- stream or generator looked at
  json       TEXT    NOT NULL,
  PRIMARY KEY (workload, table_name, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibrations (
  id               INTEGER PRIMARY KEY,
  name             TEXT    NOT NULL,
  backend          TEXT    NOT NULL,
  environment_json TEXT    NOT NULL,
  created_utc_ns   INTEGER NOT NULL,
  json             TEXT    NOT NULL
) STRICT;
)sql";

/// What codecs did inside the exchanges.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE codec_work (
  run          INTEGER NOT NULL,
  iteration    INTEGER NOT NULL,
  rank         INTEGER NOT NULL,
  stage        INTEGER NOT NULL,
  work         INTEGER NOT NULL,
  codec        TEXT    NOT NULL,
  start_ns     INTEGER NOT NULL,                 -- since the run's start
  encode_ns    INTEGER NOT NULL,                 -- of what the rank sends, over its chunks
  decode_ns    INTEGER NOT NULL,                 -- of what it receives
  chunks       INTEGER NOT NULL,
  bytes_before INTEGER NOT NULL,
  bytes_after  INTEGER NOT NULL,
  PRIMARY KEY (run, iteration, rank, stage, work, codec)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array<const char*, 3> kVersions = {kVersion1, kVersion2, kVersion3};

}  // namespace

std::span<const char* const> schema_versions() {
  return kVersions;
}

}  // namespace shardscope::storage
