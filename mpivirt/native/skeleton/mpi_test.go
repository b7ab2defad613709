//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/internal/seed"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// TestFunctionsOfMPI: functions of all families have skeletons that take the same course, with content that decides and with content that does not. Some families are drawn; with
// $GIGARANK_CONFORMANCE=all, as in scripts/search, none is left out.
func TestFunctionsOfMPI(t *testing.T) {
	needLLVM(t)
	const arrays = "static double u[9000], v[9000]; static int list[64];"
	families := map[string]struct{ before, text string }{
		"attributes": {arrays, `	int key, flag, *most, mine = rank + 3, *found; MPI_Comm copy; MPI_Datatype two;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag); gigarank_compute((flag + (*most > 100)) * 1e-6);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL); MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy); mine += 4; MPI_Comm_get_attr(copy, key, &found, &flag); gigarank_compute((*found + flag) * 1e-6); *found += 2; gigarank_compute(mine * 1e-6);
	MPI_Comm_delete_attr(copy, key); MPI_Comm_get_attr(copy, key, &found, &flag); gigarank_compute((flag + 1) * 1e-6); MPI_Comm_free(&copy); MPI_Comm_free_keyval(&key);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL); MPI_Type_contiguous(2, MPI_INT, &two); MPI_Type_set_attr(two, key, list); MPI_Type_get_attr(two, key, &found, &flag);
	list[3] = rank; gigarank_compute((found[3] + 1) * 1e-6); MPI_Type_free(&two); MPI_Type_free_keyval(&key);`},
		"a datatype by differences of addresses": {arrays + " struct part { int n; double x[3]; char c; };", `	struct part all[5], in[5]; MPI_Aint at[3], base; int lengths[3] = {1, 3, 1}; MPI_Datatype kinds[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, made, whole;
	memset(all, 0, sizeof all); MPI_Get_address(all, &base); MPI_Get_address(&all[0].n, at); MPI_Get_address(all[0].x, at + 1); MPI_Get_address(&all[0].c, at + 2);
	for (int i = 0; i < 3; i++) at[i] = i % 2 ? MPI_Aint_diff(at[i], base) : at[i] - base;
	MPI_Type_create_struct(3, lengths, at, kinds, &made); MPI_Type_create_resized(made, 0, sizeof all[0], &whole); MPI_Type_commit(&whole);
	for (int i = 0; i < 5; i++) all[i].n = i + rank;
	MPI_Sendrecv(all, 5, whole, right, 0, in, 5, whole, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); gigarank_compute((in[3].n + 1) * 1e-6); MPI_Type_free(&whole); MPI_Type_free(&made);`},
		"packed content that decides": {arrays, `	char room[200]; int at = 0, size_of, k = rank + 2; double x = 2.5;
	MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &size_of); MPI_Pack(&k, 1, MPI_INT, room, 200, &at, MPI_COMM_WORLD); MPI_Pack(&x, 1, MPI_DOUBLE, room, 200, &at, MPI_COMM_WORLD);
	MPI_Sendrecv_replace(room, at, MPI_PACKED, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); k = at = 0;
	MPI_Unpack(room, 200, &at, &k, 1, MPI_INT, MPI_COMM_WORLD); gigarank_compute((k + at + size_of) * 1e-6);`},
		"packed data": {arrays, `	static char room[80000]; int at = 0; MPI_Aint far = 0; MPI_Datatype gaps; MPI_Type_vector(200, 1, 3, MPI_DOUBLE, &gaps); MPI_Type_commit(&gaps);
	for (int i = 1; i < 9000; i++) u[i] = u[i - 1] * 0.5 + i;
	MPI_Pack(u, 1, gaps, room, 80000, &at, MPI_COMM_WORLD); MPI_Pack(u + 9, 100, MPI_DOUBLE, room, 80000, &at, MPI_COMM_WORLD); MPI_Bcast(room, at, MPI_PACKED, 0, MPI_COMM_WORLD); at = 0;
	MPI_Unpack(room, 80000, &at, v, 1, gaps, MPI_COMM_WORLD); MPI_Pack_external("external32", v, 40, MPI_DOUBLE, room, 80000, &far); gigarank_compute((at + far) * 1e-6);
	MPI_Reduce_local(u, v, 3000, MPI_DOUBLE, MPI_SUM); printf("%g\n", v[2]); MPI_Type_free(&gaps);`},
		"a local reduction that decides": {arrays, `	int a[2] = {rank, 3}, b[2] = {1, 1}; MPI_Reduce_local(a, b, 2, MPI_INT, MPI_SUM); gigarank_compute((b[0] + b[1]) * 1e-6);`},
		"buffered sends": {arrays, `	void *room = malloc(80000), *back; int bytes; MPI_Request r; MPI_Buffer_attach(room, 80000); u[3] = rank;
	MPI_Bsend(u, 900, MPI_DOUBLE, right, 1, MPI_COMM_WORLD); MPI_Ibsend(list, 3, MPI_INT, right, 2, MPI_COMM_WORLD, &r); MPI_Recv(v, 9000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(list + 5, 9, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Wait(&r, MPI_STATUS_IGNORE); MPI_Buffer_detach(&back, &bytes);
	((int *)back)[2] = rank + 1; gigarank_compute((((int *)room)[2] + (back == room) + bytes % 7) * 1e-6); free(back);`},
		"matched probes and paired sends": {arrays, `	MPI_Message m; MPI_Status s; MPI_Request r[2]; int k = rank + 1, got = 0, flag = 0;
	MPI_Isend(&k, 1, MPI_INT, right, 3, MPI_COMM_WORLD, r); MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &m, &s); MPI_Mrecv(&got, 1, MPI_INT, &m, &s); MPI_Wait(r, MPI_STATUS_IGNORE); gigarank_compute((got + s.MPI_SOURCE) * 1e-6);
	MPI_Isend(u, 500, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, r); while (!flag) MPI_Improbe(left, 4, MPI_COMM_WORLD, &flag, &m, &s);
	MPI_Imrecv(v, 600, MPI_DOUBLE, &m, r + 1); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); MPI_Get_elements(&s, MPI_DOUBLE, &got); gigarank_compute(got * 1e-6);
	MPI_Isendrecv(u, 40, MPI_DOUBLE, right, 5, v, 40, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, r); MPI_Isendrecv_replace(&k, 1, MPI_INT, left, 6, right, 6, MPI_COMM_WORLD, r + 1);
	MPI_Request_get_status(r[0], &flag, &s); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); gigarank_compute((k + 1) * 1e-6);`},
		"partitioned messages": {arrays, `	MPI_Request r[2]; int flag; for (int i = 1; i < 9000; i++) u[i] = u[i - 1] * 0.5 + i;
	MPI_Psend_init(u, 10, 50, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, r); MPI_Precv_init(v, 5, 100, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1);
	for (int k = 0; k < 3; k++) { MPI_Startall(2, r); for (int i = 0; i < 10; i++) { gigarank_compute(1e-6); MPI_Pready(i, r[0]); } MPI_Parrived(r[1], 2, &flag); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }
	MPI_Request_free(r); MPI_Request_free(r + 1);`},
		"persistent collectives": {arrays, `	MPI_Request r[4]; int k = 0, all = 0; for (int i = 1; i < 9000; i++) u[i] = u[i - 1] * 0.5 + i;
	MPI_Bcast_init(u, 900, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r); MPI_Allreduce_init(&k, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1);
	MPI_Alltoall_init(u, 2, MPI_DOUBLE, v, 2, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, r + 2); MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, r + 3);
	for (int j = 0; j < 3; j++) { k = rank * j; MPI_Startall(4, r); MPI_Waitall(4, r, MPI_STATUSES_IGNORE); gigarank_compute((all + 1) * 1e-6); }
	for (int j = 0; j < 4; j++) MPI_Request_free(r + j);`},
		"large counts": {arrays, `	MPI_Request r; MPI_Count n_all; MPI_Status s; MPI_Datatype made; int k = rank, all = 0;
	MPI_Sendrecv_c(u, 700, MPI_DOUBLE, right, 0, v, 9000, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s); MPI_Get_count_c(&s, MPI_DOUBLE, &n_all); gigarank_compute(n_all * 1e-6);
	MPI_Iallreduce_c(&k, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); gigarank_compute((all + 1) * 1e-6); if (rank == 0) MPI_Allreduce(u, v, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); else MPI_Allreduce_c(u, v, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Type_contiguous_c(30, MPI_DOUBLE, &made); MPI_Type_commit(&made); MPI_Bcast_c(u, 3, made, 0, MPI_COMM_WORLD); MPI_Type_free(&made);`},
		"communicators and groups": {arrays, `	MPI_Comm half, inter, both, later, named; MPI_Group all, some, rest; MPI_Request r; char text[MPI_MAX_OBJECT_NAME]; int range[1][3] = {{0, size - 1, 2}}, k, length;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half); MPI_Comm_idup(half, &later, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); MPI_Comm_size(later, &k); gigarank_compute(k * 1e-6);
	if (size > 1) { MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter); MPI_Comm_remote_size(inter, &k); gigarank_compute(k * 1e-6); MPI_Comm_test_inter(inter, &k);
		MPI_Bcast(u, 200, MPI_DOUBLE, rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL, inter); MPI_Allreduce(u, v, 20, MPI_DOUBLE, MPI_SUM, inter); MPI_Intercomm_merge(inter, rank % 2, &both);
		MPI_Comm_rank(both, &k); gigarank_compute((k + 1) * 1e-6); MPI_Comm_free(&both); MPI_Comm_free(&inter); }
	MPI_Comm_group(MPI_COMM_WORLD, &all); MPI_Group_range_incl(all, 1, range, &some); MPI_Group_difference(all, some, &rest); MPI_Group_size(rest, &k); gigarank_compute((k + 1) * 1e-6);
	if (rank % 2 == 0) { MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &named); MPI_Comm_set_name(named, "even"); MPI_Comm_get_name(named, text, &length); gigarank_compute((length + text[1]) * 1e-6); MPI_Bcast(u, 90, MPI_DOUBLE, 0, named); MPI_Comm_free(&named); }
	MPI_Group_free(&all); MPI_Group_free(&some); MPI_Group_free(&rest); MPI_Comm_free(&half); MPI_Comm_free(&later);`},
		"graphs": {arrays, `	MPI_Comm graph; int in, out, weighted, sources[2], targets[2], iw[2], ow[2]; MPI_Request r; MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_DOUBLE}; MPI_Aint at[2] = {0, 400}, to[2] = {80, 800}; int counts[2] = {3, 4};
	int near[2] = {left, right}; MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, MPI_UNWEIGHTED, 2, near, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted); MPI_Dist_graph_neighbors(graph, 2, sources, iw, 2, targets, ow); gigarank_compute((in + out + sources[1]) * 1e-6); MPI_Neighbor_allgather(u, 5, MPI_DOUBLE, v, 5, MPI_DOUBLE, graph);
	counts[0] = counts[1] = 3; MPI_Neighbor_alltoallw(u, counts, at, kinds, v, counts, to, kinds, graph); MPI_Ineighbor_alltoall(&rank, 0, MPI_INT, list, 0, MPI_INT, graph, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);
	int me[2] = {rank, rank}, got[2]; MPI_Neighbor_alltoall(me, 1, MPI_INT, got, 1, MPI_INT, graph); gigarank_compute((got[0] + 1) * 1e-6); MPI_Comm_free(&graph);`},
		"infos, memory, names and errors": {arrays, `	MPI_Info info; char value[20]; int flag, length, code, class_; double *w; MPI_Errhandler old; char text[MPI_MAX_ERROR_STRING];
	MPI_Info_create(&info); MPI_Info_set(info, "key", rank % 2 ? "odd" : "even"); MPI_Info_get(info, "key", 19, value, &flag); MPI_Info_get_nkeys(info, &length); gigarank_compute((value[0] + length + flag) * 1e-6); MPI_Info_free(&info);
	MPI_Alloc_mem(80000, MPI_INFO_NULL, &w); for (int i = 1; i < 10000; i++) w[i] = w[i - 1] + i; w[0] = rank; MPI_Bcast(w, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD); MPI_Free_mem(w);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old); MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); code = MPI_Send(u, 1, MPI_DOUBLE, size, 0, MPI_COMM_WORLD); MPI_Error_class(code, &class_); MPI_Error_string(code, text, &length);
	gigarank_compute((class_ + (length > 3)) * 1e-6); code = MPI_Allreduce(u, u, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); MPI_Error_class(code, &class_); gigarank_compute((class_ + 1) * 1e-6); MPI_Comm_set_errhandler(MPI_COMM_WORLD, old); MPI_Errhandler_free(&old);`},
		"handles of Fortran, and contents of datatypes": {arrays, `	MPI_Datatype made, again; int ints, addresses, kinds, how, numbers[4]; MPI_Aint far[2]; MPI_Datatype of[2]; MPI_Comm world = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
	MPI_Type_vector(4, 2, 3 + rank, MPI_DOUBLE, &made); MPI_Type_get_envelope(made, &ints, &addresses, &kinds, &how); MPI_Type_get_contents(made, ints, addresses, kinds, numbers, far, of); gigarank_compute((numbers[2] + how % 5) * 1e-6);
	again = MPI_Type_f2c(MPI_Type_c2f(made)); MPI_Type_commit(&again); MPI_Bcast(u, 1, again, 0, world); MPI_Type_free(&again);`},
	}
	names := slices.Sorted(maps.Keys(families))
	if os.Getenv("GIGARANK_CONFORMANCE") != "all" {
		names = some(names, 5)
	}
	for _, name := range names {
		c := families[name]
		t.Run(name, func(t *testing.T) {
			program, refusal := build(t, body(c.before, c.text))
			if refusal != "" {
				t.Fatal(refusal)
			}
			verify(t, program, []int{1, 2, 5})
			if strings.HasSuffix(name, "data") {
				if report, err := skeleton.Report(program); err != nil || !strings.Contains(report, "content of what is packed: left out") || !strings.Contains(report, "variable u, 72000 bytes: left out") {
					t.Errorf("%v: the report is\n%s", err, report)
				}
			}
		})
	}
}

// some returns some of a list, which are drawn.
func some(all []string, most int) []string {
	r := rand.New(rand.NewPCG(seed.Next(), 9))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(most, len(all))]
}

// TestRefusedFunctionsOfMPI: functions of MPI that call the program, or that may go to any memory, are refused with the line and the reason.
func TestRefusedFunctionsOfMPI(t *testing.T) {
	needLLVM(t)
	const handler = "static void *start; static void h(MPI_Comm *c, int *code, ...) { (void)c; exit(*code); } static int copies(MPI_Comm c, int k, void *e, void *v, void *w, int *f) { *f = 1; return 0; }\n" +
		"static int query(void *e, MPI_Status *s) { return 0; } static int gone(void *e) { return 0; } static int stop(void *e, int d) { return 0; }"
	for _, c := range []struct{ text, want string }{
		{"	MPI_Errhandler e; MPI_Comm_create_errhandler(h, &e);", "program.c:13: MPI_Comm_create_errhandler: MPI calls the function of the error handler from any call that fails: skeletons do not take it"},
		{"	int key; MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &key, NULL);", "program.c:13: MPI calls the function copies of the program when a communicator or a datatype with the attribute is copied or freed"},
		{"	MPI_Request r; MPI_Grequest_start(query, gone, stop, NULL, &r); MPI_Grequest_complete(r); MPI_Wait(&r, MPI_STATUS_IGNORE);", "program.c:13: MPI_Grequest_start: MPI calls functions of the program when the request is waited for"},
		{"	MPI_Win w; static int u[9]; MPI_Win_create(u, 36, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);", "program.c:13: MPI_Win_create: other ranks read and write the memory of a window at any time"},
		{"	PMPI_Barrier(MPI_COMM_WORLD);", "program.c:13: PMPI_Barrier: its second name goes around functions"},
		{"	int a = rank, b = 1, one[2] = {1, 1}; MPI_Aint at[2]; MPI_Datatype of[2] = {MPI_INT, MPI_INT}, made; MPI_Get_address(&a, at); MPI_Get_address(&b, at + 1); at[1] -= at[0]; at[0] = 0;\n" +
			"	MPI_Type_create_struct(2, one, at, of, &made); MPI_Type_commit(&made); MPI_Bcast(&a, 1, made, 0, MPI_COMM_WORLD); gigarank_compute(b * 1e-6);", "program.c:14: the datatype may have addresses for displacements: skeletons take offsets within a structure"},
		{"	int a[2] = {rank, 1}, one[2] = {1, 1}; MPI_Aint at[2]; MPI_Datatype of[2] = {MPI_INT, MPI_INT}, made; MPI_Get_address(a, at); MPI_Get_address(a + 1, at + 1);\n" +
			"	MPI_Type_create_struct(2, one, at, of, &made); MPI_Type_commit(&made); MPI_Bcast(MPI_BOTTOM, 1, made, 0, MPI_COMM_WORLD); gigarank_compute(a[1] * 1e-6);", "program.c:14: the datatype may have addresses for displacements, and the buffer at "},
		{"	int a[2] = {rank, 1}, one[2] = {1, 1}; MPI_Aint at[2]; MPI_Datatype of[2] = {MPI_INT, MPI_INT}, made; MPI_Get_address(a, at); MPI_Get_address(a + 1, at + 1); if (size > 3) { start = a; at[1] -= at[0]; at[0] = 0; }\n" +
			"	MPI_Type_create_struct(2, one, at, of, &made); MPI_Type_commit(&made); MPI_Bcast(start, 1, made, 0, MPI_COMM_WORLD); gigarank_compute(a[1] * 1e-6);", "program.c:14: the datatype may have addresses for displacements, and the buffer at "},
	} {
		program, refusal := build(t, body(handler, c.text))
		if program != "" || !strings.Contains(refusal, c.want) {
			t.Errorf("%s\nis refused as %q, want %q", c.text, refusal, c.want)
		}
	}
}

// TestBuffersThatMayBeOne: a reduction whose buffers may be one fails in the program where they are. The skeleton names its line.
func TestBuffersThatMayBeOne(t *testing.T) {
	needLLVM(t)
	for text, want := range map[string]bool{
		"	static double u[9000]; for (int i = 1; i < 9000; i++) u[i] += u[i - 1]; MPI_Allreduce(u + rank * 9, u + size * 9, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);":  true,
		"	static double u[9000], v[9000]; for (int i = 1; i < 9000; i++) u[i] += v[i - 1]; MPI_Allreduce(u + rank, v + rank, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);": false,
	} {
		program, refusal := build(t, body("", text))
		if refusal != "" {
			t.Fatal(refusal)
		}
		verify(t, program, []int{1, 3})
		d, err := skeleton.Describe(program)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(d.Failures, func(line string) bool {
			return strings.HasSuffix(line, "program.c:12 (the buffers may be one)")
		}); got != want {
			t.Errorf("%s\nhas the failures %q", text, d.Failures)
		}
	}
}

// besides matches attributes of variables that no course depends on.
var besides = regexp.MustCompile(`(?m), (volatile|asynchronous)\b|^ *(volatile|asynchronous) .*$`)

// TestConformanceProgramsAreServedOrRefused: a program of the suite of conformance is refused with a line, or its skeleton takes the same course. Some are drawn;
// with $GIGARANK_CONFORMANCE=all, as in scripts/search, none is left out, and another value is part of the names of some. With module mpi flang refuses programs that need the interfaces of
// its procedures, as those that name their arguments do.
func TestConformanceProgramsAreServedOrRefused(t *testing.T) {
	needLLVM(t)
	programs, _ := filepath.Glob("../testdata/conformance/*.[cfF]*")
	if len(programs) < 40 {
		t.Fatal("there are no programs")
	}
	switch wanted := os.Getenv("GIGARANK_CONFORMANCE"); wanted {
	case "all":
	case "":
		programs = some(programs, 3)
	default:
		programs = slices.DeleteFunc(programs, func(path string) bool { return !strings.Contains(path, wanted) })
	}
	served := 0
	for _, source := range programs {
		language := toolchain.C
		if filepath.Ext(source) != ".c" {
			language = toolchain.Fortran
		}
		if skeleton.Missing(language) != nil {
			continue
		}
		// Without interfaces flang takes no arguments that are volatile or asynchronous.
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		program, file := filepath.Join(dir, "program"), filepath.Join(dir, filepath.Base(source))
		if err := os.WriteFile(file, besides.ReplaceAll(text, nil), 0o666); err != nil {
			t.Fatal(err)
		}
		arguments := []string{skeleton.Flag, "-O2", "-DGIGARANK", "-I../testdata/conformance", skeleton.KeepDataFlag, file, "-o", program, "-lm"}
		if language == toolchain.Fortran {
			arguments = append(arguments, "-J"+dir)
		}
		var printed bytes.Buffer
		code, err := skeleton.Wrap(language, arguments, nil, &printed, &printed)
		if err != nil {
			t.Fatal(err)
		}
		if code == 0 {
			t.Logf("%s is served", source)
			verify(t, program, []int{4})
			served++
			continue
		}
		t.Logf("%s is refused: %s", source, &printed)
		compilers := code == 1 && bytes.Contains(printed.Bytes(), []byte("plicit interface"))
		if !compilers && (code != 2 || !regexp.MustCompile(`(?m)^gigarank (cc|fc): .*\.(c|h|f90|F90):[0-9]+`).Match(printed.Bytes())) || exists(program) {
			t.Errorf("%s is refused with exit code %d: %s", source, code, &printed)
		}
	}
	t.Logf("%d of %d programs are served", served, len(programs))
}
