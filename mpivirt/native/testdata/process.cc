// Sets what libstdc++ has once for a process.
#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <locale>
#include <new>

static void end() { std::_Exit(3); }

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	std::locale::global(std::locale::classic());
	std::set_terminate(end);
	std::set_new_handler(end);
	return MPI_Finalize();
}
