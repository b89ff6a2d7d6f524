// Listens to a program's calls of MPI: LD_PRELOAD=this library, SENT_OVER_MPI=a path. At
// MPI_Finalize, every rank writes PATH.RANK: a line per communicator and kind of call, "name calls
// bytes call", of what was sent, or of one rank's contribution to a collective. A name that a
// communicator lacks is "unnamed".
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace {

struct Count {
  std::int64_t calls = 0, bytes = 0;
};

std::map<std::pair<std::string, std::string>, Count>& counts() {
  static std::map<std::pair<std::string, std::string>, Count> counts;
  return counts;
}

void note(const char* call, MPI_Comm communicator, std::int64_t elements, MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(communicator, name, &length);
  MPI_Count bytes = 0;
  if (elements > 0) PMPI_Type_size_x(type, &bytes);
  Count& count = counts()[{length > 0 ? name : "unnamed", call}];
  count.calls += 1;
  count.bytes += elements * bytes;
}

// Of blocks for every rank.
std::int64_t sum(const int* counts, MPI_Comm communicator) {
  int ranks = 0;
  PMPI_Comm_size(communicator, &ranks);
  return std::accumulate(counts, counts + ranks, std::int64_t{0});
}

// The same for every rank.
std::int64_t for_all(std::int64_t count, MPI_Comm communicator) {
  int ranks = 0;
  PMPI_Comm_size(communicator, &ranks);
  return count * ranks;
}

void write_counts() {
  const char* path = std::getenv("SENT_OVER_MPI");
  if (path == nullptr) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ofstream file(std::string(path) + "." + std::to_string(rank));
  for (const auto& [key, count] : counts())
    file << key.first << ' ' << count.calls << ' ' << count.bytes << ' ' << key.second << '\n';
}

}  // namespace

extern "C" int MPI_Finalize() {
  write_counts();
  return PMPI_Finalize();
}

// clang-format off

// MPI_<name>, which sends so many `elements` of `type` over `comm`.
#define COUNTED(name, elements, parameters, arguments) \
  extern "C" int MPI_##name parameters {               \
    note(#name, comm, elements, type);                 \
    return PMPI_##name arguments;                      \
  }

#define COUNTED_SEND(name)                                                                       \
  COUNTED(name, count,                                                                           \
          (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),      \
          (data, count, type, to, tag, comm))
COUNTED_SEND(Send)
COUNTED_SEND(Ssend)
COUNTED_SEND(Rsend)
COUNTED_SEND(Bsend)

#define COUNTED_START(name)                                                                      \
  COUNTED(name, count,                                                                           \
          (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,       \
           MPI_Request* request),                                                                \
          (data, count, type, to, tag, comm, request))
COUNTED_START(Isend)
COUNTED_START(Issend)
COUNTED_START(Irsend)
COUNTED_START(Ibsend)
COUNTED_START(Send_init)

COUNTED(Sendrecv, count,
        (const void* data, int count, MPI_Datatype type, int to, int tag, void* out, int out_count,
         MPI_Datatype out_type, int from, int out_tag, MPI_Comm comm, MPI_Status* status),
        (data, count, type, to, tag, out, out_count, out_type, from, out_tag, comm, status))
COUNTED(Sendrecv_replace, count,
        (void* data, int count, MPI_Datatype type, int to, int tag, int from, int from_tag,
         MPI_Comm comm, MPI_Status* status),
        (data, count, type, to, tag, from, from_tag, comm, status))

// A collective call, and the form that starts it.
#define LIST(...) __VA_ARGS__
#define COUNTED_COLLECTIVE(name, start, elements, parameters, arguments)                         \
  COUNTED(name, elements, (LIST parameters, MPI_Comm comm), (LIST arguments, comm))              \
  COUNTED(start, elements, (LIST parameters, MPI_Comm comm, MPI_Request* request),               \
          (LIST arguments, comm, request))

COUNTED_COLLECTIVE(Bcast, Ibcast, count, (void* data, int count, MPI_Datatype type, int root),
                   (data, count, type, root))
COUNTED_COLLECTIVE(Reduce, Ireduce, count,
                   (const void* data, void* out, int count, MPI_Datatype type, MPI_Op op, int root),
                   (data, out, count, type, op, root))
COUNTED_COLLECTIVE(Allreduce, Iallreduce, count,
                   (const void* data, void* out, int count, MPI_Datatype type, MPI_Op op),
                   (data, out, count, type, op))
COUNTED_COLLECTIVE(Reduce_scatter, Ireduce_scatter, sum(counts, comm),
                   (const void* data, void* out, const int* counts, MPI_Datatype type, MPI_Op op),
                   (data, out, counts, type, op))
COUNTED_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, for_all(count, comm),
                   (const void* data, void* out, int count, MPI_Datatype type, MPI_Op op),
                   (data, out, count, type, op))
COUNTED_COLLECTIVE(Allgather, Iallgather, count,
                   (const void* data, int count, MPI_Datatype type, void* out, int out_count,
                    MPI_Datatype out_type),
                   (data, count, type, out, out_count, out_type))
COUNTED_COLLECTIVE(Allgatherv, Iallgatherv, count,
                   (const void* data, int count, MPI_Datatype type, void* out,
                    const int* out_counts, const int* out_places, MPI_Datatype out_type),
                   (data, count, type, out, out_counts, out_places, out_type))
COUNTED_COLLECTIVE(Gather, Igather, count,
                   (const void* data, int count, MPI_Datatype type, void* out, int out_count,
                    MPI_Datatype out_type, int root),
                   (data, count, type, out, out_count, out_type, root))
COUNTED_COLLECTIVE(Scatter, Iscatter, for_all(count, comm),
                   (const void* data, int count, MPI_Datatype type, void* out, int out_count,
                    MPI_Datatype out_type, int root),
                   (data, count, type, out, out_count, out_type, root))
COUNTED_COLLECTIVE(Alltoall, Ialltoall, for_all(count, comm),
                   (const void* data, int count, MPI_Datatype type, void* out, int out_count,
                    MPI_Datatype out_type),
                   (data, count, type, out, out_count, out_type))
COUNTED_COLLECTIVE(Alltoallv, Ialltoallv, sum(counts, comm),
                   (const void* data, const int* counts, const int* places, MPI_Datatype type,
                    void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type),
                   (data, counts, places, type, out, out_counts, out_places, out_type))
