package record

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// definitions finds the functions that the sources define by hand.
var definitions = regexp.MustCompile(`(?m)^(?:EXPORT int (?:MPI_(\w+)\(|PASTE\(MPI_, NAME\((\w+)\)\))|(?:SENDS|SENDS_LATER)\(NAME\((\w+)\)|COLLECTIVE\((?:NAME\((\w+)\), LATER\((\w+)\)|(\w+), (\w+))|(?:SETS_UP|MAKES|FREES)\((\w+))`)

// Recorded returns the names of the functions that the library defines by hand, without MPI_: those that make operations, and those that these depend on, such
// as MPI_Send_init. Of a function with large counts it has both names.
var Recorded = sync.OnceValue(func() []string {
	var names []string
	files, err := sources.ReadDir(folder)
	if err != nil {
		panic(err) // they are embedded
	}
	for _, f := range files {
		text, err := sources.ReadFile(folder + "/" + f.Name())
		if err != nil {
			panic(err)
		}
		for _, m := range definitions.FindAllStringSubmatch(string(text), -1) {
			counted := m[2] + m[3] + m[4]
			for _, name := range slices.Concat(m[1:5], m[6:]) {
				if name != "" && name != "name_" {
					names = append(names, name)
				}
			}
			if m[5] != "" { // LATER(x) is Ix
				names = append(names, "I"+m[5], "I"+m[5]+"_c")
			}
			if counted != "" {
				names = append(names, counted+"_c")
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// moving are the beginnings of the names of functions that move data or wait for other processes, and whose calls are no operations: one-sided
// communication, files, dynamic processes, persistent collectives, partitioned messages.
var moving = []string{
	"Put", "Get_accumulate", "Accumulate", "Rput", "Rget", "Raccumulate", "Fetch_and_op", "Compare_and_swap",
	"Win_allocate", "Win_create", "Win_free", "Win_fence", "Win_start", "Win_post", "Win_complete", "Win_wait", "Win_test", "Win_lock", "Win_unlock", "Win_flush", "Win_sync",
	"File_open", "File_close", "File_read", "File_write", "File_iread", "File_iwrite", "File_sync", "File_set_size", "File_preallocate", "File_set_view", "File_seek_shared",
	"Comm_spawn", "Comm_accept", "Comm_connect", "Comm_join", "Intercomm_create", "Comm_shrink", "Comm_agree",
	"Pready", "Parrived", "Psend_init", "Precv_init", "Comm_create_from_group",
	"Barrier_init", "Bcast_init", "Gather_init", "Gatherv_init", "Scatter_init", "Scatterv_init", "Allgather_init", "Allgatherv_init", "Alltoall_init", "Alltoallv_init", "Alltoallw_init",
	"Reduce_init", "Allreduce_init", "Reduce_scatter_init", "Reduce_scatter_block_init", "Scan_init", "Exscan_init", "Neighbor_",
}

// plainlyMoving are names that are no beginnings of others.
var plainlyMoving = []string{"Get", "Get_c"}

// asking are functions whose names begin like those of functions that move data.
var asking = []string{"Win_create_errhandler", "Win_create_keyval", "Win_free_keyval", "Win_create_dynamic"}

// Moves reports whether the calls of a function that is not recorded move data, or wait for other processes.
func Moves(name string) bool {
	if slices.Contains(asking, name) {
		return name == "Win_create_dynamic"
	}
	return slices.Contains(plainlyMoving, name) || slices.ContainsFunc(moving, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
