//go:build cgo && linux && (amd64 || arm64)

package native_test

import "testing"

// A run tells of computing that no virtual time was charged for: between two clock polls, or much of it.
func TestUncharged(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "gigarank.h"
static void work(int millions) {
	volatile double x = 0;
	for (int i = 0; i < millions * 1000000; i++)
		x += i;
}
int main(int argc, char **argv) {
	int way = atoi(argv[1]), sum;
	MPI_Init(&argc, &argv);
	double start = MPI_Wtime();
	switch (way) {
	case 0: break;
	case 1: work(5); break;
	case 2: MPI_Barrier(MPI_COMM_WORLD); work(40); MPI_Barrier(MPI_COMM_WORLD); break;
	case 3: gigarank_compute(1e-3); work(5); break;
	case 4: usleep(1000); break;
	case 5:
		for (int i = 0; i < 100; i++)
			MPI_Allreduce(&way, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 6: gigarank_compute(0); work(5); break;
	}
	printf("%.9f\n", MPI_Wtime() - start);
	return MPI_Finalize();
}
`)
	for way, want := range []bool{false, true, true, false, false, false, true} {
		for _, engines := range []int{1, 2} {
			result, _, err := run(t, program, "xt5", 3, hosting{engines: engines}, string(rune('0'+way)))
			for again := 0; again < 20 && err == nil && result.Uncharged && !want; again++ { // the host may hold a rank up between two polls
				result, _, err = run(t, program, "xt5", 3, hosting{engines: engines}, string(rune('0'+way)))
			}
			if err != nil || result.Uncharged != want {
				t.Errorf("way %d, %d engines: %v, uncharged %t, want %t", way, engines, err, result.Uncharged, want)
			}
		}
	}
	if result, _, err := run(t, program, "xt5", 3, hosting{engines: 1, bursts: measured}, "1"); err != nil || result.Uncharged {
		t.Errorf("where CPU times count: %v, uncharged %t", err, result.Uncharged)
	}
}
