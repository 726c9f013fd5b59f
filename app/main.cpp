#include <system_error>

#include "app/command_line.hpp"
#include "app/console.hpp"
#include "app/standard_output.hpp"

int main(int argc, char** argv) {
  namespace app = shardscope::app;
  using shardscope::ErrorKind;
  app::reserve_standard_descriptors();
  try {
    return app::finish_output(app::run(argc, argv));
  } catch (const std::system_error& failure) {
    // Printing throws where the disk is full, and starting a thread where there are too many.
    app::print_error({ErrorKind::runtime, failure.what(), "", "", ""});
    return shardscope::exit_code(ErrorKind::runtime);
  }
}
