// Prints how long a sleep of four seconds lasts on several clocks, and random numbers.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <omp.h>
#include <poll.h>
#include <random>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/times.h>
#include <thread>
#include <unistd.h>

static double since(const struct timespec &from) {
	struct timespec now;
	timespec_get(&now, TIME_UTC);
	return static_cast<double>(now.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - from.tv_nsec);
}

static double used() {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return static_cast<double>(u.ru_utime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec);
}

static double ticks() {
	struct tms t;
	return static_cast<double>(times(&t)) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int main(int argc, char **argv) {
	using std::chrono::milliseconds;
	using seconds = std::chrono::duration<double>;
	MPI_Init(&argc, &argv);
	auto steady = std::chrono::steady_clock::now();
	auto system = std::chrono::system_clock::now();
	auto fine = std::chrono::high_resolution_clock::now();
	struct timespec utc, at, half = {0, 500000000};
	struct timeval quarter = {0, 250000};
	timespec_get(&utc, TIME_UTC);
	double start = MPI_Wtime(), thread = omp_get_wtime(), cpu = used(), tick = ticks();

	std::this_thread::sleep_for(milliseconds(1250));
	std::this_thread::sleep_until(std::chrono::steady_clock::now() + milliseconds(250));
	clock_nanosleep(CLOCK_MONOTONIC, 0, &half, nullptr);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec++;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, nullptr);
	select(0, nullptr, nullptr, nullptr, &quarter);
	poll(nullptr, 0, 250);
	pselect(0, nullptr, nullptr, nullptr, &half, nullptr);

	std::random_device device;
	std::printf("%.3f %.3f %.3f %.3f %.3f %.3f %.3f %.3f random %u %u\n", MPI_Wtime() - start, seconds(std::chrono::steady_clock::now() - steady).count(),
		seconds(std::chrono::system_clock::now() - system).count(), seconds(std::chrono::high_resolution_clock::now() - fine).count(), since(utc), omp_get_wtime() - thread,
		used() - cpu, ticks() - tick, device(), device());
	return MPI_Finalize();
}
