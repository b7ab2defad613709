// Objects of C++ live and die with their rank: static ones, those of functions, thread-local ones.
#include <mpi.h>

#include <cstdio>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

static int rank = -1, living;

struct Named {
	std::string name;
	explicit Named(const char *n) : name(n) { living++; }
	~Named() {
		living--;
		std::printf("rank %d: %s ends, %d left\n", rank, name.c_str(), living);
	}
};

static Named global("a static object with a name of some length");
static std::vector<int> numbers(3, 7);
static thread_local Named local("a thread-local object");

static Named &of_function() {
	static Named one("an object of a function");
	return one;
}

// The linker makes such variables one for the whole process.
inline int &of_inline_function() {
	static int one = 5;
	return one;
}
template <class T> struct Template {
	static T one;
};
template <class T> T Template<T>::one = 6;
inline int inline_variable = 7;

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int size, faults = living != 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	numbers.push_back(rank);
	local.name += " of " + std::to_string(rank);
	of_function();
	faults += living != 3;
	for (int i = 0; i < 3; i++) {
		try {
			throw std::runtime_error("of " + std::to_string(rank));
		} catch (const std::exception &e) {
			MPI_Barrier(MPI_COMM_WORLD); // others throw and catch meanwhile
			faults += e.what() != "of " + std::to_string(rank);
			try {
				throw;
			} catch (const std::runtime_error &again) {
				faults += std::string(again.what()) != e.what();
			}
		}
		faults += std::uncaught_exceptions() != 0;
	}
	numbers[0] += rank;
	of_inline_function() += rank;
	Template<int>::one += rank;
	inline_variable += rank;
	MPI_Barrier(MPI_COMM_WORLD);
	faults += of_inline_function() != 5 + rank || Template<int>::one != 6 + rank || inline_variable != 7 + rank;
	faults += numbers.size() != 4 || numbers[0] != 7 + rank || numbers[3] != rank;
	int all = 0;
	MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		std::cout << "objects: " << all << " faults on " << std::setw(2) << size << " ranks" << std::endl;
	MPI_Finalize();
	return 0;
}
