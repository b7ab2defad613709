// The standard streams of C++ belong to a rank each: format, state, buffers, and where they go.
#include <mpi.h>

#include <iomanip>
#include <iostream>
#include <sstream>

static int rank, size;

static struct Early {
	Early() { std::cout << std::setfill('*'); } // before main
} early;

int main(int argc, char **argv) {
	std::ios_base::sync_with_stdio(false);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	std::ostringstream own;
	std::streambuf *usual = std::cerr.rdbuf(own.rdbuf());
	std::cout << std::fixed << std::setprecision(rank + 1);
	std::wcout << std::hex;
	if (rank % 2)
		std::cout << std::showpos;
	if (rank == 1)
		std::cout.setstate(std::ios_base::failbit);
	MPI_Barrier(MPI_COMM_WORLD);
	int faults = std::cout.precision() != rank + 1 || std::cout.fill() != '*' || std::cout.good() != (rank != 1) || std::cin.tie() != &std::cout;
	std::cerr << "rank " << rank;
	MPI_Barrier(MPI_COMM_WORLD);
	faults += own.str() != "rank " + std::to_string(rank) || !(std::cerr.flags() & std::ios_base::unitbuf) || std::wcerr.good() == false;
	std::cerr.rdbuf(usual);
	std::cout.clear();
	if (rank == 0)
		std::wcout << std::dec;
	MPI_Barrier(MPI_COMM_WORLD);
	faults += !(std::wcout.flags() & (rank ? std::ios_base::hex : std::ios_base::dec));
	std::cout << "rank " << std::noshowpos << rank << (rank % 2 ? std::showpos : std::noshowpos) << ": " << std::setw(12) << 3.14159265358979 << ' ' << std::noshowpos << faults << std::endl;
	return MPI_Finalize();
}
