# Build functions of the project: one library a folder, one test program a folder.

add_library(shardscope_options INTERFACE)
target_include_directories(shardscope_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(shardscope_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # Plain values are filled by designated initializers; members left out have defaults.
  -Wno-missing-field-initializers
  # A product is rounded before it is added whatever the instruction set, so that results are equal.
  -ffp-contract=off
  # g++ 12 sees overlaps in std::string's operator+ where there are none (GCC PR 105651), and, where
  # a unity build gives it more to inline, elements behind the end of empty vectors.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-array-bounds>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-stringop-overflow>)
# Kernels are compiled for AVX-512, AVX2, SSE4 and the baseline; under sanitizers, which make them
# slow to compile, for AVX2 and the baseline.
set(left_out HWY_SSSE3)
if(SHARDSCOPE_SANITIZE)
  set(left_out "(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
endif()
target_compile_definitions(shardscope_options INTERFACE HWY_DISABLED_TARGETS=${left_out})
if(SHARDSCOPE_SANITIZE)
  target_compile_options(shardscope_options INTERFACE
    -fsanitize=${SHARDSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ 12 warns of its own instrumentation in <regex>
  target_link_options(shardscope_options INTERFACE -fsanitize=${SHARDSCOPE_SANITIZE})
endif()
find_program(SHARDSCOPE_MOLD mold)
if(SHARDSCOPE_MOLD)
  target_link_options(shardscope_options INTERFACE -fuse-ld=mold)
endif()
find_program(SHARDSCOPE_CCACHE ccache)
if(SHARDSCOPE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHARDSCOPE_CCACHE})
endif()

# Sources of a folder, without programs of their own.
function(shardscope_sources out folder)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER found EXCLUDE REGEX "/engine/cuda/host/|/tests/engine/cuda/")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# shardscope_library(NAME [FOLDER folder] [EXCLUDE paths...] LINK targets...): the folder (NAME
# unless told otherwise) as the library shardscope_NAME, without the files under the excluded paths.
function(shardscope_library name)
  cmake_parse_arguments(ARG "" "FOLDER" "EXCLUDE;LINK" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  shardscope_sources(sources ${ARG_FOLDER})
  foreach(path ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "/${path}")
  endforeach()
  # Files compiled once per instruction set include themselves: each needs a unit of its own.
  set(per_target ${sources})
  list(FILTER per_target INCLUDE REGEX "/engine/(cpu|dense|codec)/")
  set_source_files_properties(${per_target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(sources)
    add_library(shardscope_${name} STATIC ${sources})
    target_link_libraries(shardscope_${name} PUBLIC shardscope_options ${ARG_LINK})
  else()
    add_library(shardscope_${name} INTERFACE)
    target_link_libraries(shardscope_${name} INTERFACE shardscope_options ${ARG_LINK})
  endif()
endfunction()

# shardscope_program(NAME main-file LINK targets...)
function(shardscope_program name main)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# shardscope_tests(NAME [LINK targets...]): tests/NAME as the program test_NAME; links the folder's
# library unless told otherwise. Tests read ../shared/data where it is present.
function(shardscope_tests name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  shardscope_sources(sources tests/${name})
  if(NOT sources)
    return()
  endif()
  if(NOT ARG_LINK)
    set(ARG_LINK shardscope_${name})
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${ARG_LINK} shardscope_test_support
    GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(test_${name} PRIVATE <gtest/gtest.h> <string> <vector>)
  set_target_properties(test_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  add_test(NAME ${name} COMMAND test_${name})
endfunction()

# shardscope_benchmarks(LINK targets...): every bench/NAME.cpp is a program of its own, with the
# parts that stand in bench/NAME/.
function(shardscope_benchmarks)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/${name}/*.cpp)
    add_executable(${name} ${source} ${parts})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark)
    set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  endforeach()
endfunction()

# What all test programs share: where they lie, and what runs fuzz targets.
function(shardscope_test_support)
  add_library(shardscope_test_support STATIC ${PROJECT_SOURCE_DIR}/tests/paths.cpp
    ${PROJECT_SOURCE_DIR}/tests/fuzz/mutate.cpp ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp)
  target_link_libraries(shardscope_test_support PUBLIC shardscope_options GTest::gtest)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/paths.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS
    "-DSHARDSCOPE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";-DSHARDSCOPE_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
endfunction()

# shardscope_fuzzers(): every tests/FOLDER/NAME_fuzz.cpp as the libFuzzer program fuzz_NAME
# (scripts/fuzz), linked to the folder's library; of tests/app to all.
function(shardscope_fuzzers)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_fuzz.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "/.*" "" folder ${folder})
    set(libraries shardscope_${folder})
    if(folder STREQUAL engine)
      list(APPEND libraries shardscope_service)
    endif()
    if(folder STREQUAL app)
      set(libraries shardscope_engine shardscope_storage)
    endif()
    add_executable(fuzz_${name} ${source})
    target_compile_definitions(fuzz_${name} PRIVATE SHARDSCOPE_LIBFUZZER)
    target_link_libraries(fuzz_${name} PRIVATE ${libraries})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endforeach()
endfunction()

# The kernels of engine/cuda on the CPU (engine/cuda/host) and their tests as the program test_cuda.
# Under ThreadSanitizer the harness itself is not instrumented: it says which threads are ordered.
function(shardscope_cuda_host)
  find_library(boost_context boost_context REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/cuda/host/*.cpp)
  add_library(shardscope_cuda_host STATIC ${sources})
  set_target_properties(shardscope_cuda_host PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(shardscope_cuda_host PUBLIC shardscope_engine ${boost_context})
  if(SHARDSCOPE_SANITIZE STREQUAL thread)
    set_source_files_properties(
      ${PROJECT_SOURCE_DIR}/engine/cuda/host/block.cpp
      ${PROJECT_SOURCE_DIR}/engine/cuda/host/fiber.cpp
      PROPERTIES COMPILE_OPTIONS "-fno-sanitize=thread;-DSHARDSCOPE_TSAN_FIBERS")
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/tests/engine)
  # What the packed check runs on a GPU as well.
  set(shared
    ${folder}/cuda/assembly_test.cpp ${folder}/cuda/both_devices.cpp ${folder}/cuda/codec_test.cpp
    ${folder}/cuda/dense_math_test.cpp ${folder}/dense/dense_cases.cpp ${folder}/cuda/gather_test.cpp
    ${folder}/cuda/gradient_test.cpp ${folder}/cuda/index_test.cpp
    ${folder}/cuda/invariance_test.cpp ${folder}/cpu/kernel_cases.cpp
    ${folder}/cpu/gradient_cases.cpp ${folder}/pipeline/cases.cpp
    ${folder}/pipeline/reference.cpp ${folder}/pipeline/run_case.cpp
    ${folder}/cuda/emulated_gpu.cpp ${folder}/cuda/emulated_graph.cpp
    ${folder}/cuda/address_checked_ops.cpp
    ${folder}/cuda/fake_cublas.cpp ${folder}/cuda/fake_nccl.cpp)
  add_library(shardscope_cuda_tests OBJECT ${shared})
  set_target_properties(shardscope_cuda_tests PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(shardscope_cuda_tests PUBLIC shardscope_cuda_host GTest::gtest GTest::gmock)
  target_precompile_headers(shardscope_cuda_tests PRIVATE <gtest/gtest.h> <string> <vector>)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/cuda/*.cpp)
  list(REMOVE_ITEM tests ${shared})
  add_executable(test_cuda ${tests})
  target_link_libraries(test_cuda PRIVATE shardscope_cuda_tests shardscope_app shardscope_test_support
    GTest::gtest_main)
  set_target_properties(test_cuda PROPERTIES
    UNITY_BUILD OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  add_test(NAME cuda COMMAND test_cuda)
  # The packed check (scripts/gpu-check), built on demand.
  file(GLOB_RECURSE check CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/gpu_check/*.cpp)
  add_executable(gpu_check EXCLUDE_FROM_ALL ${check})
  target_link_libraries(gpu_check PRIVATE shardscope_cuda_tests)
  target_link_options(gpu_check PRIVATE -Wl,--as-needed)
  set_target_properties(gpu_check PROPERTIES
    UNITY_BUILD OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
