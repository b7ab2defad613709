/* Each rank has its own floating point registers, and its own rounding, across calls that wait. */
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>

/* keep has more values in use across a call than a processor keeps in registers. */
static __attribute__((noinline)) double keep(double x) {
	volatile double from = x;
	double a = from, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7, i = a + 8;
	__asm__ volatile("" : : "g"(&from) : "memory");
	for (int n = 0; n < 3; n++) {
		MPI_Barrier(MPI_COMM_WORLD);
		a += 10, b += 20, c += 30, d += 40, e += 50, f += 60, g += 70, h += 80, i += 90;
	}
	return a + b + c + d + e + f + g + h + i - 9 * x - 36 - 3 * 450;
}

int main(int argc, char **argv) {
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	volatile double one = 1, three = 3;
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int before = fegetround(), mode = modes[rank % 4];
	fesetround(mode);
	double kept = keep(rank * 1000);
	double third = one / three;
	printf("%d: %s, %s, %.17g, %s\n", rank, before == FE_TONEAREST ? "to nearest" : "otherwise", fegetround() == mode ? "its own" : "another's", third, kept == 0 ? "kept" : "lost");
	return MPI_Finalize();
}
