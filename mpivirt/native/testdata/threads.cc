// Threads of a rank write to its variables and to its stack while it waits in MPI. A rank prints how often it has found
// what another rank's thread has written.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <thread>

static std::atomic<int> mine;
static thread_local int local;

int main(int argc, char **argv) {
	int provided, rank, size, wrong = 0;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	std::atomic<int> here{rank}, written{0};
	std::atomic<bool> stop{false};
	int *of_rank = &local;
	mine = local = rank;
	auto writes = [&, of_rank] {
		while (!stop) {
			mine = here = rank;
			__atomic_store_n(of_rank, rank, __ATOMIC_RELAXED);
			written++;
			std::this_thread::yield();
		}
	};
	std::thread thread([&] { std::thread(writes).join(); }); // a thread of a thread
	auto later = std::async(std::launch::async, writes);
	while (written < 2)
		std::this_thread::yield();
	for (int i = 0; i < 100; i++) {
		int from = -1;
		MPI_Request request;
		MPI_Irecv(&from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
		MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		wrong += mine != rank || here != rank || local != rank || from != (rank + size - 1) % size;
	}
	stop = true;
	thread.join(), later.get();
	if (argc > 1 && argv[1] == std::string("detached")) // it outlives the rank
		std::thread([rank] {
			for (;;) {
				mine = rank;
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
		}).detach();
	MPI_Barrier(MPI_COMM_WORLD);
	std::printf("%d wrong %d\n", rank, wrong + (mine != rank));
	MPI_Finalize();
}
