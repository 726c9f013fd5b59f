#include "storage/calibration_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardscope::storage {
namespace {

Quantity timed(double value) {
  return {value, Origin::measured, "calibrate on lab (a \"CPU\"), cpu/threads", "2026-01-01"};
}

CalibrationFile some_calibration() {
  CalibrationFile file;
  Calibration& calibration = file.calibration;
  calibration.name = "lab";
  calibration.backend = "cpu";
  calibration.environment = R"({"host":"lab","cores":2})";
  calibration.gpu.name = "CPU core";
  calibration.gpu.memory_bytes_per_s = timed(1.2e10);
  calibration.gpu.gather_efficiency = timed(0.5);
  calibration.gpu.launch_s = timed(3e-7);
  calibration.intra.latency_s = timed(2e-6);
  calibration.intra.by_size = {{1024, 1e9}, {1048576, 4e9}};
  calibration.intra.sender_share = 0;
  file.topology = "host-cpu:1x2";
  file.comm = "threads";
  file.ranks = 2;
  file.interrupted = true;
  file.missing = {"gemm"};
  file.refused = {"stream_efficiency: more than 1"};
  file.times = {{"fp32 x 64", "model_forward", 1e-3, 1.1e-3}};
  file.collectives = {{"alltoall", 1024, 1024, 3e-6}};
  return file;
}

TEST(CalibrationFile, ComesBackAsItWas) {
  const CalibrationFile file = some_calibration();
  const auto read = calibration_from_json(to_json(file), "lab.json");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, file);
}

TEST(CalibrationFile, WhatWasNotMeasuredIsNotWritten) {
  const std::string text = to_json(some_calibration());
  EXPECT_EQ(text.find("gemm_efficiency"), std::string::npos);
  EXPECT_NE(text.find("gather_efficiency"), std::string::npos);
}

void expect_refused(const std::string& from, const std::string& to, const std::string& words) {
  std::string text = to_json(some_calibration());
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto read = calibration_from_json(text, "lab.json");
  ASSERT_FALSE(read) << to;
  EXPECT_THAT(to_string(read.error()), testing::HasSubstr(words));
  EXPECT_THAT(to_string(read.error()), testing::HasSubstr("lab.json"));
}

TEST(CalibrationFile, WrongFieldsAreRefusedByTheirPath) {
  expect_refused("calibration/1", "calibration/2", "calibration/1");
  expect_refused("\"value\": 0.5,", "\"value\": 1.5,", "gpu.gather_efficiency");
  expect_refused("\"gather_efficiency\"", "\"gather_eficiency\"", "gather_efficiency");
  expect_refused("\"message_bytes\": 1024", "\"message_bytes\": 9991024", "intra.by_size");
  expect_refused("\"ranks\": 2", "\"ranks\": -2", "ranks");
  expect_refused("\"gemm\"", "7", "missing[0]");
}

}  // namespace
}  // namespace shardscope::storage
