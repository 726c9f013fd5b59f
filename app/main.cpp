#include "app/command_line.hpp"

int main(int argc, char** argv) {
  return shardscope::app::run(argc, argv);
}
