#include "ui/model/capabilities.hpp"

#include <gtest/gtest.h>

namespace shardscope::ui {
namespace {

EngineMachine machine_with(const std::string& capabilities) {
  auto machine = engine_machine(R"({"machine": {"host": "lab", "cores": 8}, "capabilities": [)" +
                                capabilities + "]}");
  return machine ? *machine : EngineMachine{};
}

constexpr const char* kPlugin =
    R"({"name": "CUDA plugin", "available": "yes", "finding": "sm_90"})";

TEST(Capabilities, WhatIsMissingIsRefusedInTheDoctorsWords) {
  const EngineMachine machine =
      machine_with(std::string(kPlugin) +
                   R"(, {"name": "GPU", "available": "no", "finding": "no NVIDIA driver is loaded",
            "help": "Load the NVIDIA driver."})");
  ASSERT_TRUE(machine.known);
  EXPECT_EQ(machine.host, "lab");
  EXPECT_EQ(machine.cores, 8);
  EXPECT_EQ(backend_refusal(machine, "cpu"), "");
  EXPECT_EQ(backend_refusal(machine, "cuda"),
            "GPU: no NVIDIA driver is loaded\nLoad the NVIDIA driver.");
}

TEST(Capabilities, CommunicatorsAndMathFollowTheBackendAndTheLibraries) {
  const EngineMachine machine =
      machine_with(std::string(kPlugin) + R"(, {"name": "GPU", "available": "yes", "finding": "1"},
      {"name": "several GPUs", "available": "no", "finding": "1 GPU", "help": "Use loopback."},
      {"name": "NCCL", "available": "yes", "finding": "2.21"},
      {"name": "cuBLAS", "available": "no", "finding": "not found", "help": ""})");
  EXPECT_EQ(backend_refusal(machine, "cuda"), "");
  EXPECT_EQ(comm_refusal(machine, "cpu", "threads"), "");
  EXPECT_EQ(comm_refusal(machine, "cpu", "loopback"), "");
  EXPECT_NE(comm_refusal(machine, "cpu", "nccl"), "");
  EXPECT_NE(comm_refusal(machine, "cuda", "threads"), "");
  EXPECT_EQ(comm_refusal(machine, "cuda", "loopback"), "");
  EXPECT_EQ(comm_refusal(machine, "cuda", "nccl"), "several GPUs: 1 GPU\nUse loopback.");
  EXPECT_EQ(dense_math_refusal(machine, "host"), "");
  EXPECT_EQ(dense_math_refusal(machine, "tf32"), "cuBLAS: not found");
}

TEST(Capabilities, NothingNeedsToBeKnownOfCpuRanks) {
  const EngineMachine unknown;
  EXPECT_EQ(backend_refusal(unknown, "cpu"), "");
  EXPECT_NE(backend_refusal(unknown, "cuda").find("not said yet"), std::string::npos);
}

TEST(Capabilities, AnAnswerOfAnotherShapeIsAnError) {
  for (const char* text : {"", "[]", "{}", R"({"capabilities": 3})", "{\"capabilities\": ["}) {
    EXPECT_FALSE(engine_machine(text)) << text;
  }
  const auto odd = engine_machine(R"({"machine": 3, "capabilities": [7, {"name": 4}]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->capabilities.size(), 1U);
}

}  // namespace
}  // namespace shardscope::ui
