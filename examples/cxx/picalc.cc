// The integral of 4/(1+x^2) from 0 to 1 on all ranks, by the midpoint rule: picalc [INTERVALS]
#include <mpi.h>

#include <iomanip>
#include <iostream>
#include <string>

namespace {

// Session is MPI from its construction to its destruction.
class Session {
public:
	const int rank, size;

	Session(int &argc, char **&argv) : rank(begun(argc, argv)), size(asked(MPI_Comm_size)) {}
	~Session() { MPI_Finalize(); }
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

private:
	static int begun(int &argc, char **&argv) {
		MPI_Init(&argc, &argv);
		return asked(MPI_Comm_rank);
	}

	static int asked(int (*question)(MPI_Comm, int *)) {
		int answer = 0;
		question(MPI_COMM_WORLD, &answer);
		return answer;
	}
};

// midpoints returns the sum of f over every stride-th of n intervals of [0, 1], from the first.
template <typename Function> double midpoints(long first, long n, long stride, Function f) {
	double sum = 0;
	for (long i = first; i < n; i += stride)
		sum += f((static_cast<double>(i) + 0.5) / static_cast<double>(n));
	return sum / static_cast<double>(n);
}

} // namespace

int main(int argc, char **argv) {
	Session session(argc, argv);
	long n = session.rank == 0 && argc > 1 ? std::stol(argv[1]) : 100000;
	MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	double share = midpoints(session.rank, n, session.size, [](double x) { return 4 / (1 + x * x); }), pi = 0;
	MPI_Reduce(&share, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (session.rank == 0)
		std::cout << "pi is " << std::fixed << std::setprecision(10) << pi << " with " << n << " intervals\n";
}
