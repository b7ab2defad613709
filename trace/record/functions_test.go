package record_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
	"gigarank/trace/record"
)

// rows are the rows of the table of functions in docs/native.md whose functions move data, wait, or make communicators and requests.
var rows = []string{"Messages", "Partitioned messages", "Waits", "Collectives", "Neighbourhood collectives", "Persistent collectives", "Large counts, in C", "Communicators", "Topologies"}

// local begins the names of functions in these rows that concern the calling process alone, and make no request.
var local = regexp.MustCompile(`^(Get_|Buffer_|Request_get_status|Grequest_|Status_|Test_cancelled|Op_|Reduce_local|Type_|Pack|Unpack|` +
	`Comm_(size|rank|group|compare|remote|test_inter|set_|get_|call_|create_errhandler|free_keyval|create_keyval)|Topo_test|Dims_create|Cart(dim_get|_get|_rank|_coords|_shift|_map)|Graph(dims_get|_get|_neighbors|_map)|Dist_graph_neighbors)`)

// The recorder has each function of the table of native ranks that moves data, waits, or makes communicators or requests: as an operation, or as a
// function whose calls it counts as unrecorded. The table, mpi.h and the recorder have no others.
func TestRecorderHasTheFunctionsOfNativeRanks(t *testing.T) {
	text, err := os.ReadFile("../../docs/native.md")
	if err != nil {
		t.Fatal(err)
	}
	recorded, named := record.Recorded(), 0
	for _, row := range rows {
		_, rest, found := strings.Cut(string(text), "\n| "+row+" | ")
		if !found {
			t.Fatalf("docs/native.md has no row %s", row)
		}
		names, _, _ := strings.Cut(rest, " |")
		for name := range strings.FieldsSeq(names) {
			named++
			is, moves, isLocal := slices.Contains(recorded, name), record.Moves(name), local.MatchString(name)
			if n := count(is, moves && !is, isLocal && !is); n != 1 {
				t.Errorf("MPI_%s (%s): recorded %t, counted as unrecorded %t, local %t", name, row, is, moves, isLocal)
			}
		}
	}
	if named < 250 {
		t.Errorf("%d functions in %v", named, rows)
	}
	all := slices.Concat(toolchain.Supported(), toolchain.Unsupported())
	for _, name := range recorded {
		if !slices.Contains(all, name) {
			t.Errorf("the recorder has MPI_%s, which mpi.h does not declare", name)
		}
	}
	for _, name := range toolchain.Unsupported() {
		moves := regexp.MustCompile(`^(File_(i?read|i?write|open|close|sync)|R?(put|get|accumulate)|Put|Get$|Accumulate|Win_(fence|lock|unlock|flush|start|post|complete|wait)|Comm_(spawn|accept|connect|join))`).MatchString(name)
		if moves && !record.Moves(name) && name != "File_open_errhandler" {
			t.Errorf("MPI_%s moves data, and is not counted as unrecorded", name)
		}
	}
}

func count(list ...bool) (n int) {
	for _, is := range list {
		if is {
			n++
		}
	}
	return n
}

// Counted functions are defined from any mpi.h: parameters may have no names.
func TestPrototypes(t *testing.T) {
	var header strings.Builder
	for i := range 100 {
		fmt.Fprintf(&header, "extern int PMPI_Filler%d(void);\n", i)
	}
	header.WriteString(`
int PMPI_Named(const void *buf, MPI_Count n, int ranges[][3], MPI_Op *function) __attribute__((x(1)));
int PMPI_Unnamed(MPI_File, MPI_Offset *, const char *, int [], unsigned int);
int PMPI_Pcontrol(const int level, ...);
double PMPI_Wtime(void);
int PMPI_T_init_thread(int required, int *provided);
`)
	text, err := record.Counted(header.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"EXPORT int MPI_Named(const void *buf, MPI_Count n, int ranges[][3], MPI_Op *function) { LOCAL(Named, buf, n, ranges, function); }",
		"EXPORT int MPI_Unnamed(MPI_File argument0, MPI_Offset * argument1, const char * argument2, int argument3[], unsigned int argument4) { LOCAL(Unnamed, argument0, argument1, argument2, argument3, argument4); }",
		"EXPORT int MPI_Filler7(void) { LOCAL(Filler7); }",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%.2000s", want, text[max(0, len(text)-2000):])
		}
	}
	for _, no := range []string{"Wtime", "T_init", "Pcontrol"} {
		if strings.Contains(text, no) {
			t.Errorf("MPI_%s is defined", no)
		}
	}
}
