// Prints how long a sleep of five seconds lasts on several clocks, and random numbers.
#include <mpi.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <random>
#include <semaphore.h>
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

// waits waits for what nobody signals, on each clock, for a second in all.
static void waits() {
	using std::chrono::milliseconds;
	std::mutex mutex;
	std::condition_variable condition;
	std::unique_lock<std::mutex> lock(mutex);
	struct timespec at;
	sem_t none;
	if (condition.wait_for(lock, milliseconds(125)) != std::cv_status::timeout || condition.wait_for(lock, milliseconds(125), [] { return false; }))
		std::exit(1);
	if (condition.wait_until(lock, std::chrono::system_clock::now() + milliseconds(125)) != std::cv_status::timeout)
		std::exit(2);
	pthread_condattr_t steady;
	pthread_cond_t other;
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&other, &steady);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += 125000000;
	if (pthread_cond_timedwait(&other, mutex.native_handle(), &at) != ETIMEDOUT)
		std::exit(3);
	sem_init(&none, 0, 1);
	for (int i = 0; i < 2; i++) {
		timespec_get(&at, TIME_UTC);
		at.tv_nsec += 500000000;
		at.tv_sec += at.tv_nsec / 1000000000, at.tv_nsec %= 1000000000;
		if ((sem_timedwait(&none, &at) == 0) != (i == 0) || (i == 1 && errno != ETIMEDOUT))
			std::exit(4);
	}
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
	waits();

	std::random_device device;
	std::printf("%.3f %.3f %.3f %.3f %.3f %.3f %.3f %.3f random %u %u\n", MPI_Wtime() - start, seconds(std::chrono::steady_clock::now() - steady).count(),
		seconds(std::chrono::system_clock::now() - system).count(), seconds(std::chrono::high_resolution_clock::now() - fine).count(), since(utc), omp_get_wtime() - thread,
		used() - cpu, ticks() - tick, device(), device());
	return MPI_Finalize();
}
