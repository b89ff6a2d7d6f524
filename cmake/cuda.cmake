# NVIDIA GPUs.
#
#   SHARDLINGS_CUDA=AUTO  compiles the CUDA device where there is a toolkit, and links it into the
#                         programs where there is a GPU as well
#                  =ON    needs a toolkit, and links it into all programs
#                  =OFF   does neither
#
# Sets SHARDLINGS_HAS_CUDA (it is compiled) and SHARDLINGS_LINKS_CUDA (all programs have it). A
# program with the target property SHARDLINGS_WITH_CUDA has it wherever it is compiled.
set(SHARDLINGS_CUDA AUTO CACHE STRING "The CUDA device: AUTO, ON or OFF")
set_property(CACHE SHARDLINGS_CUDA PROPERTY STRINGS AUTO ON OFF)
set(SHARDLINGS_HAS_CUDA FALSE)
set(SHARDLINGS_LINKS_CUDA FALSE)
set(SHARDLINGS_HAS_NCCL FALSE)
if(NOT SHARDLINGS_CUDA)
  return()
endif()

find_package(CUDAToolkit 12 QUIET)
if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE OR NOT TARGET CUDA::cublas)
  set(advice "no toolkit of version 12 or later with cuBLAS; with NVIDIA's packages \
(developer.nvidia.com/cuda-downloads): apt-get install cuda-toolkit")
  if(SHARDLINGS_CUDA STREQUAL AUTO)
    message(STATUS "CUDA: ${advice}")
    return()
  endif()
  message(FATAL_ERROR "SHARDLINGS_CUDA=${SHARDLINGS_CUDA}: ${advice}")
endif()

# "9.0", a line for each GPU; nothing where there is none.
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                RESULT_VARIABLE no_gpu OUTPUT_VARIABLE capabilities ERROR_QUIET)
string(REGEX MATCHALL "[0-9]+[.][0-9]+" capabilities "${capabilities}")
if(NOT no_gpu AND capabilities)
  list(REMOVE_DUPLICATES capabilities)
  list(TRANSFORM capabilities REPLACE "[.]" "")
  set(architectures ${capabilities})
  set(SHARDLINGS_LINKS_CUDA TRUE)
else()
  # Two generations, and the newest as PTX, which drivers translate for later ones.
  set(architectures 80-real 90)
  if(NOT SHARDLINGS_CUDA STREQUAL AUTO)
    set(SHARDLINGS_LINKS_CUDA TRUE)
  endif()
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${architectures})
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
if(NOT CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc 12 takes it.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(SHARDLINGS_HAS_CUDA TRUE)
if(SHARDLINGS_LINKS_CUDA)
  message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}, no GPU; compiled for the tests alone")
endif()

# NCCL: collectives among GPUs. Sets SHARDLINGS_HAS_NCCL.
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_DIR}/..)
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  add_library(NCCL::nccl UNKNOWN IMPORTED)
  set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
  set(SHARDLINGS_HAS_NCCL TRUE)
  message(STATUS "NCCL: ${NCCL_LIBRARY}")
else()
  message(STATUS "NCCL: not found; several GPUs talk through the host. With NVIDIA's packages: \
apt-get install libnccl-dev")
endif()
