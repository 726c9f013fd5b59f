# The CUDA plugin, libshardscope_cuda.so beside the programs: the target shardscope_cuda, built on
# demand. nvcc is called directly: CMake 3.25 does not know its C++20, and a build without a toolkit
# needs no CUDA language.

set(SHARDSCOPE_CUDA_ARCHITECTURES "90" CACHE STRING "GPU architectures of the plugin, e.g. 80;90")

# Digest of what program and plugin share: a plugin of other headers is refused.
set(shardscope_cuda_shared
  engine/assembly.hpp engine/dense/dense_math.hpp engine/dense/interaction.hpp
  engine/dense/matrix.hpp engine/device.hpp engine/ops.hpp engine/stream.hpp layout/result.hpp
  layout/workload.hpp engine/cuda/plugin_table.hpp engine/cuda/codec_ops.hpp
  engine/cuda/cublas_api.hpp engine/cuda/dense_math.hpp engine/cuda/runtime_api.hpp
  engine/cuda/cuda_stream.hpp engine/cuda/rank_graph.hpp)
set(shardscope_cuda_digests "${CMAKE_CXX_COMPILER_VERSION}")
foreach(header ${shardscope_cuda_shared})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
  file(SHA256 ${PROJECT_SOURCE_DIR}/${header} digest)
  string(APPEND shardscope_cuda_digests ${digest})
endforeach()
string(SHA256 SHARDSCOPE_CUDA_BUILD_ID "${shardscope_cuda_digests}")
string(SUBSTRING ${SHARDSCOPE_CUDA_BUILD_ID} 0 16 SHARDSCOPE_CUDA_BUILD_ID)

find_program(SHARDSCOPE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda/bin /opt/cuda/bin)

# The toolkit's own header checks the records that are read without it.
get_filename_component(shardscope_toolkit "${SHARDSCOPE_NVCC}" DIRECTORY)
get_filename_component(shardscope_toolkit "${shardscope_toolkit}" DIRECTORY)
if(EXISTS ${shardscope_toolkit}/include/cupti.h)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/profiler/cupti_layout.cpp PROPERTIES
    COMPILE_OPTIONS "-isystem;${shardscope_toolkit}/include"
    SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# shardscope_cuda_plugin(): the target, or one line that says why there is none.
function(shardscope_cuda_plugin)
  if(SHARDSCOPE_SANITIZE)
    return()  # sanitizers see the kernels in the harness
  endif()
  if(NOT SHARDSCOPE_NVCC)
    message(STATUS "CUDA plugin: not built, no nvcc found (set CUDA_HOME to a CUDA 13 toolkit)")
    return()
  endif()
  set(code "")
  set(names "")
  foreach(architecture ${SHARDSCOPE_CUDA_ARCHITECTURES})
    list(APPEND code "--generate-code=arch=compute_${architecture},code=sm_${architecture}")
    list(APPEND names "sm_${architecture}")
  endforeach()
  list(JOIN names "," names)
  message(STATUS "CUDA plugin: target shardscope_cuda for ${names}, ${SHARDSCOPE_NVCC}")

  set(defines -I${PROJECT_SOURCE_DIR} -DFMT_SHARED
    -DSHARDSCOPE_CUDA_BUILD_ID="${SHARDSCOPE_CUDA_BUILD_ID}"
    -DSHARDSCOPE_CUDA_ARCHITECTURES="${names}")
  # -fmad=false: a product is rounded before it is added, as on the CPU.
  set(flags -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr ${code}
    -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wno-unknown-pragmas,-ffp-contract=off
    -Werror=all-warnings ${defines} -Xptxas=-v)
  set(folder ${PROJECT_BINARY_DIR}/cuda)
  file(MAKE_DIRECTORY ${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/cuda/*.cu)
  # The parts of the engine that the plugin has a copy of.
  list(APPEND sources
    ${PROJECT_SOURCE_DIR}/engine/cuda/cuda_stream.cpp
    ${PROJECT_SOURCE_DIR}/engine/cuda/runtime_api.cpp
    ${PROJECT_SOURCE_DIR}/engine/cuda/rank_graph.cpp)
  set(objects "")
  set(reports "")
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    set(object ${folder}/${name}.o)
    set(report ${folder}/${name}.resources)
    if(name MATCHES "[.]cpp$")
      add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -fPIC
          -fvisibility=hidden ${defines} -MD -MF ${object}.d -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d
        COMMENT "Building ${name} for the CUDA plugin" VERBATIM)
      list(APPEND objects ${object})
      continue()
    endif()
    add_custom_command(OUTPUT ${object} ${report}
      COMMAND sh -c "\"$@\" 2> ${report} || { cat ${report} >&2; exit 1; }" sh
        ${SHARDSCOPE_NVCC} ${flags} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Building CUDA object ${name}" VERBATIM)
    list(APPEND objects ${object})
    list(APPEND reports ${report})
  endforeach()
  set(plugin ${PROJECT_BINARY_DIR}/bin/libshardscope_cuda.so)
  add_custom_command(OUTPUT ${plugin}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bin
    COMMAND ${SHARDSCOPE_NVCC} -shared -cudart static ${objects} -lfmt -o ${plugin}
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-kernels ${reports}
    DEPENDS ${objects} ${PROJECT_SOURCE_DIR}/scripts/check-kernels
    COMMENT "Linking libshardscope_cuda.so; registers and spills of its kernels" VERBATIM)
  add_custom_target(shardscope_cuda DEPENDS ${plugin})
endfunction()
