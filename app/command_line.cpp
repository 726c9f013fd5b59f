namespace shardscope::app { int run(int, char**); int run(int, char**) { return 0; } }
