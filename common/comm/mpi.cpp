#include "comm/mpi.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

namespace shardlings {

namespace {

bool is_set(const char* variable) {
  return std::getenv(variable) != nullptr;
}

template <class... Args>
void require(int code, fmt::format_string<Args...> what, Args&&... args) {
  if (code == MPI_SUCCESS) return;
  // The text of an error is a stack of lines, that of its class is one.
  int error_class = code, length = 0;
  MPI_Error_class(code, &error_class);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  MPI_Error_string(error_class, text.data(), &length);
  fail(ExitCode::broken, "{}: MPI says: {}", fmt::format(what, std::forward<Args>(args)...),
       text.data());
}

// Named, and with errors that come back to the caller. Never freed: that would be a collective
// call, which a rank that fails would make alone.
void prepare(MPI_Comm communicator, const std::string& name) {
  MPI_Comm_set_name(communicator, name.c_str());
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
}

// The counts of MPI are ints. So many bytes are `count` elements of `type`.
class Extent {
 public:
  Extent(std::int64_t bytes, int largest_count) {
    if (bytes <= largest_count) {
      count_ = static_cast<int>(bytes);
      return;
    }
    const std::int64_t blocks = bytes / largest_count;
    MPI_Datatype block;
    require(MPI_Type_contiguous(largest_count, MPI_BYTE, &block), "a block of {} bytes",
            largest_count);
    const std::array lengths{static_cast<int>(blocks), static_cast<int>(bytes % largest_count)};
    const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(blocks * largest_count)};
    const std::array types{block, MPI_BYTE};
    require(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_),
            "a type of {} bytes", bytes);
    MPI_Type_free(&block);
    require(MPI_Type_commit(&type_), "a type of {} bytes", bytes);
  }
  // A message under way keeps its type.
  ~Extent() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm payload, MPI_Comm control, int rank, int size, std::string name,
               int largest_count)
      : Transport(rank, size),
        payload_(payload),
        control_(control),
        name_(std::move(name)),
        largest_count_(largest_count),
        send_(is_set("SHARDLINGS_SYNCHRONOUS_SENDS") ? MPI_Issend : MPI_Isend) {}

  std::string kind() const override { return "mpi"; }

  Request start_send(const void* data, std::int64_t bytes, int to, Channel channel,
                     int tag) override {
    const Extent extent(bytes, largest_count_);
    UnderWay message{.bytes = bytes, .partner = to, .is_receive = false};
    require(send_(data, extent.count(), extent.type(), to, tag, communicator(channel),
                  &message.request),
            "{}: {} bytes for rank {}", name_, bytes, to);
    return started(message);
  }

  Request start_receive(void* data, std::int64_t bytes, int from, Channel channel,
                        int tag) override {
    const Extent extent(bytes, largest_count_);
    UnderWay message{.bytes = bytes, .partner = from, .is_receive = true};
    require(MPI_Irecv(data, extent.count(), extent.type(), from, tag, communicator(channel),
                      &message.request),
            "{}: {} bytes from rank {}", name_, bytes, from);
    return started(message);
  }

  bool done(Request request) override {
    const auto found = under_way_.find(request);
    UnderWay& message = found->second;
    int is_done = 0;
    MPI_Status status;
    require(MPI_Test(&message.request, &is_done, &status), "{}: {} bytes {} rank {}", name_,
            message.bytes, message.is_receive ? "from" : "for", message.partner);
    if (is_done == 0) return false;
    if (message.is_receive) {
      MPI_Count arrived = 0;
      MPI_Get_elements_x(&status, MPI_BYTE, &arrived);
      CHECK(arrived == message.bytes, "{}: a message of {} bytes from rank {} for a buffer of {}",
            name_, arrived, message.partner, message.bytes);
    }
    under_way_.erase(found);
    return true;
  }

  // The rank is about to abort the job, and only calls of MPI touch the buffer.
  void cancel(Request request) override { under_way_.erase(request); }

  std::unique_ptr<Transport> split(const std::vector<int>& members,
                                   const std::string& name) override {
    const int n = static_cast<int>(members.size());
    const int place = static_cast<int>(std::ranges::find(members, rank()) - members.begin());
    // Whoever is alone has nobody to talk to, but the others need its call to part.
    MPI_Comm payload = MPI_COMM_NULL, control = MPI_COMM_NULL;
    const int colour = n == 1 ? MPI_UNDEFINED : *std::ranges::min_element(members);
    if (size() > 1)
      require(MPI_Comm_split(control_, colour, place, &payload), "the group {}", name);
    if (n > 1) {
      require(MPI_Comm_dup(payload, &control), "the group {}", name);
      prepare(payload, name);
      prepare(control, name + ".control");
    }
    return std::make_unique<MpiTransport>(payload, control, place, n, name, largest_count_);
  }

 private:
  struct UnderWay {
    MPI_Request request = MPI_REQUEST_NULL;
    std::int64_t bytes;
    int partner;
    bool is_receive;
  };

  Request started(const UnderWay& message) {
    under_way_.emplace(++last_, message);
    return last_;
  }
  MPI_Comm communicator(Channel channel) const {
    return channel == Channel::payload ? payload_ : control_;
  }

  MPI_Comm payload_, control_;
  std::string name_;
  int largest_count_;
  decltype(&MPI_Isend) send_;
  Request last_ = 0;
  std::map<Request, UnderWay> under_way_;
};

// A new, empty file where files are memory, if there is such a place.
std::string new_shared_file() {
  const char* temporary = std::getenv("TMPDIR");
  for (const std::string folder : {"/dev/shm", temporary != nullptr ? temporary : "/tmp", "/tmp"}) {
    std::string name = folder + "/shardlings-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) continue;
    close(file);
    return name;
  }
  fail(ExitCode::io,
       "no small file can be made in /dev/shm or /tmp; TMPDIR can name another place");
}

// Memory of all processes of one machine. The first one makes it; its name is gone again as soon
// as all have it.
std::shared_ptr<SharedMemory> shared_memory(MPI_Comm machine, std::int64_t bytes) {
  int rank = 0;
  MPI_Comm_rank(machine, &rank);
  std::array<char, 256> name{};
  if (rank == 0) new_shared_file().copy(name.data(), name.size() - 1);
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, machine);
  auto memory = std::make_shared<SharedMemory>(name.data(), bytes);
  MPI_Barrier(machine);
  if (rank == 0) unlink(name.data());
  return memory;
}

bool aborts = false;  // of the whole process, as MPI is

bool is_running() {
  int began = 0, ended = 0;
  MPI_Initialized(&began);
  MPI_Finalized(&ended);
  return began != 0 && ended == 0;
}

// A rank that leaves by exit() would leave the others waiting.
void abort_if_running() {
  if (!is_running() || aborts) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr, "rank {}: left before the job was done\n", rank);
  abort_mpi(ExitCode::broken);
}

[[noreturn]] void fail_for_ranks(int ranks, int expected) {
  if (ranks == 1)
    fail(ExitCode::unavailable,
         "{} ranks are wanted, but MPI says that this one is alone: mpiexec belongs to another MPI "
         "library than the program, or the library is broken (the mpich of Ubuntu 24.04 is); "
         "apt-get install openmpi-bin libopenmpi-dev, delete build/ and build again, or use "
         "--launcher threads",
         expected);
  fail(ExitCode::unavailable, "{} ranks are wanted, but {} were started; mpiexec -n {} starts them",
       expected, ranks, expected);
}

}  // namespace

// The launchers' protocols: PMI (MPICH's hydra, Slurm), PMIx (Slurm, Open MPI), Open MPI's own.
// Slurm's SLURM_PROCID by itself does not do: a batch script has it too.
bool started_by_mpi_launcher() {
  return std::ranges::any_of(std::array{"PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"},
                             is_set);
}

MpiJob::MpiJob(int expected_ranks, int largest_count) : largest_count_(largest_count) {
  int threads = 0;
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads), "MPI_Init");
  std::atexit(abort_if_running);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (ranks_ != expected_ranks) fail_for_ranks(ranks_, expected_ranks);
  if (threads < MPI_THREAD_FUNNELED)
    fail(ExitCode::unavailable, "this MPI library does not bear programs with threads");
}

MpiJob::~MpiJob() {
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

RankStart MpiJob::start() const {
  MPI_Comm payload, control, machine;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &payload), "the group all");
  require(MPI_Comm_dup(MPI_COMM_WORLD, &control), "the group all.control");
  require(MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
          "the ranks of this machine");
  prepare(payload, "all");
  prepare(control, "all.control");
  prepare(machine, "machine.control");
  int local_rank = 0, local_ranks = 1;
  MPI_Comm_rank(machine, &local_rank);
  MPI_Comm_size(machine, &local_ranks);
  return {.transport = std::make_unique<MpiTransport>(payload, control, rank_, ranks_, "all",
                                                      largest_count_),
          .recorder =
              FlightRecorder(shared_memory(machine, FlightRecorder::bytes(ranks_)), rank_, ranks_),
          .ranks_on_this_machine = local_ranks,
          .rank_on_this_machine = local_rank};
}

void abort_mpi(ExitCode code) {
  std::fflush(nullptr);
  if (is_running()) {
    aborts = true;  // MPI_Abort may end in exit()
    // mpiexec hands on what was printed while the job lives, and forgets the rest when it aborts.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    // What MPI would add now only hides it.
    if (std::freopen("/dev/null", "w", stderr) != nullptr)
      MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  }
  std::_Exit(static_cast<int>(code));
}

}  // namespace shardlings
