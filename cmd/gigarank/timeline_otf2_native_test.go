//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// someCollectives has collectives with roots on communicators of three and two members, and on an intercommunicator of both.
const someCollectives = `
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, numbers[64] = {0}, got[64], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm part, between;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
	int own, size;
	MPI_Comm_rank(part, &own);
	MPI_Comm_size(part, &size);
	MPI_Bcast(numbers, 4, MPI_INT, 1, part);
	MPI_Gather(numbers, 2, MPI_INT, got, 2, MPI_INT, 1, part);
	MPI_Scatterv(numbers, counts, places, MPI_INT, got, counts[own], MPI_INT, 0, part);
	MPI_Alltoall(numbers, 1, MPI_INT, got, 1, MPI_INT, part);
	MPI_Exscan(numbers, got, 3, MPI_INT, MPI_SUM, part);
	MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
	MPI_Bcast(numbers, 5, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
	if (rank == 0)
		MPI_Send(numbers, 7, MPI_INT, 1, 9, between);
	if (rank == 3)
		MPI_Recv(got, 7, MPI_INT, 0, 9, between, MPI_STATUS_IGNORE);
	return MPI_Finalize();
}
`

// Collectives of five ranks have their operation, communicator, root, and the bytes that each rank gives and gets, by hand.
func TestTimelineForOTF2OfNativeProgram(t *testing.T) {
	dir := t.TempDir()
	source, program, name := filepath.Join(dir, "some.c"), filepath.Join(dir, "some"), filepath.Join(dir, "archive.otf2")
	if err := os.WriteFile(source, []byte(someCollectives), 0o666); err != nil {
		t.Fatal(err)
	}
	executed(t, terminal.ExitDone, "cc", source, "-o", program)
	executed(t, terminal.ExitDone, strings.Fields("run "+program+" --ranks 5 --progress none --timeline "+name)...)
	events := readOTF2(t, name)
	heldOTF2(t, events)
	collective := regexp.MustCompile(`^Operation: (\w+), Communicator: "[^"]*" <(\d+)>, Root: ([^(,]+?)(?: \("[^"]*" <\d+>\))?, Sent: (\d+), Received: (\d+)`)
	message := regexp.MustCompile(`^(?:Sender|Receiver): (\d+) .*Communicator: "[^"]*" <(\d+)>, Tag: (\d+), Length: (\d+)`)
	got, comms := map[int][]string{}, map[string]string{}
	for _, e := range events {
		switch e.kind {
		case "MPI_COLLECTIVE_END":
			m := collective.FindStringSubmatch(e.text)
			if m == nil {
				t.Fatalf("%s", e.text)
			}
			got[e.rank] = append(got[e.rank], fmt.Sprintf("%s root %s: %s, %s", m[1], m[3], m[4], m[5]))
			key := fmt.Sprintf("%s of rank %d", m[1], e.rank)
			comms[key] = m[2]
		case "MPI_SEND", "MPI_RECV":
			m := message.FindStringSubmatch(e.text)
			if m == nil {
				t.Fatalf("%s", e.text)
			}
			if m[3] != "9" {
				continue // leaders make the intercommunicator, and exchange the data of its collectives
			}
			got[e.rank] = append(got[e.rank], fmt.Sprintf("%s %s: tag %s, %s", e.kind, m[1], m[3], m[4]))
			comms[fmt.Sprintf("message of rank %d", e.rank)] = m[2]
		}
	}
	want := map[int]string{
		0: "CREATE_HANDLE root NONE: 0, 0; BCAST root 1: 0, 16; GATHER root 1: 8, 0; SCATTERV root 0: 24, 4; ALLTOALL root NONE: 12, 12; EXSCAN root NONE: 12, 0; BCAST root SELF: 20, 0; MPI_SEND 1: tag 9, 28",
		1: "CREATE_HANDLE root NONE: 0, 0; BCAST root 1: 0, 16; GATHER root 1: 8, 0; SCATTERV root 0: 12, 4; ALLTOALL root NONE: 8, 8; EXSCAN root NONE: 12, 0; BCAST root 0: 0, 20",
		2: "CREATE_HANDLE root NONE: 0, 0; BCAST root 1: 16, 0; GATHER root 1: 8, 24; SCATTERV root 0: 0, 8; ALLTOALL root NONE: 12, 12; EXSCAN root NONE: 12, 12; BCAST root THIS_GROUP: 0, 0",
		3: "CREATE_HANDLE root NONE: 0, 0; BCAST root 1: 16, 0; GATHER root 1: 8, 16; SCATTERV root 0: 0, 8; ALLTOALL root NONE: 8, 8; EXSCAN root NONE: 12, 12; BCAST root 0: 0, 20; MPI_RECV 0: tag 9, 28",
		4: "CREATE_HANDLE root NONE: 0, 0; BCAST root 1: 0, 16; GATHER root 1: 8, 0; SCATTERV root 0: 0, 12; ALLTOALL root NONE: 12, 12; EXSCAN root NONE: 12, 12; BCAST root THIS_GROUP: 0, 0",
	}
	for rank, text := range want {
		if list := strings.Join(slices.DeleteFunc(got[rank], func(s string) bool { return strings.HasPrefix(s, "ALLREDUCE") }), "; "); list != text {
			t.Errorf("rank %d has\n%s\nwant\n%s", rank, list, text)
		}
	}
	if comms["GATHER of rank 0"] != comms["GATHER of rank 4"] || comms["GATHER of rank 0"] == comms["GATHER of rank 1"] || comms["message of rank 0"] != comms["message of rank 3"] {
		t.Errorf("communicators %v", comms)
	}
}
