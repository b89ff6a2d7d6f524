# What the course is built from: packages of the distribution, nothing fetched.
find_package(fmt REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json REQUIRED)
find_package(muparser REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is all that we use
find_package(MPI REQUIRED COMPONENTS CXX)
if(SHARDLINGS_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
