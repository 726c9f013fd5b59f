#pragma once
namespace shardscope::app { int run(int argc, char** argv); }
