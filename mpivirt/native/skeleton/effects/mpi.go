package effects

import "strings"

// ofMPI are the roles of MPI's functions, in the order of MPI 4.1. Requests, handles that are made and statuses are memory that is
// written; statuses that are asked and arrays are memory that is read.
const ofMPI = `
Init bb; Init_thread bbvo; Initialized o; Finalize; Finalized o; Query_thread o; Is_thread_main o; Abort vv
Get_processor_name oo; Get_version oo; Get_library_version oo; Wtime; Wtick; Alloc_mem vvp; Free_mem v
Error_class vo; Error_string voo; Comm_set_errhandler vv; Comm_get_errhandler vo; Errhandler_free b; Comm_call_errhandler vv
File_set_errhandler vv; File_get_errhandler vo; File_call_errhandler vv
Add_error_class o; Add_error_code vo; Add_error_string va; Remove_error_class v; Remove_error_code v; Remove_error_string v
Comm_rank vo; Comm_size vo; Comm_dup vo; Comm_split vvvo; Comm_split_type vvvvo; Comm_create vvo; Comm_free b; Comm_group vo; Comm_compare vvo; Comm_set_name va
Comm_test_inter vo; Comm_dup_with_info vvo; Comm_idup voo; Comm_idup_with_info vvoo; Comm_create_group vvvo; Comm_disconnect b; Comm_remote_size vo; Comm_remote_group vo
Comm_get_name voo; Comm_get_parent o; Intercomm_create vvvvvo; Intercomm_merge vvo
Group_size vo; Group_rank vo; Group_compare vvo; Group_incl vvao; Group_excl vvao; Group_range_incl vvao; Group_range_excl vvao; Group_free b; Group_translate_ranks vvavo
Group_union vvo; Group_intersection vvo; Group_difference vvo
Send svvvvv; Ssend svvvvv; Bsend svvvvv; Rsend svvvvv; Isend svvvvvo; Issend svvvvvo; Ibsend svvvvvo; Irsend svvvvvo; Recv rvvvvvo; Irecv rvvvvvo
Sendrecv svvvvrvvvvvo; Sendrecv_replace xvvvvvvvo; Isendrecv svvvvrvvvvvo; Isendrecv_replace xvvvvvvvo
Send_init svvvvvo; Ssend_init svvvvvo; Bsend_init svvvvvo; Rsend_init svvvvvo; Recv_init rvvvvvo; Buffer_attach vv; Buffer_detach oo
Psend_init svvvvvvvo; Precv_init rvvvvvvvo; Pready vv; Pready_range vvv; Pready_list vav; Parrived vvo
Start b; Startall vb; Wait bo; Waitall vbo; Waitany vboo; Waitsome vbooo; Test boo; Testall vboo; Testany vbooo; Testsome vbooo; Request_free b; Cancel b; Grequest_complete v
Request_get_status voo; Request_get_status_all vaoo; Request_get_status_any vaooo; Request_get_status_some vaooo
Probe vvvo; Iprobe vvvoo; Mprobe vvvoo; Improbe vvvooo; Mrecv rvvbo; Imrecv rvvbo
Get_count avo; Get_elements avo; Get_elements_x avo; Status_set_elements bvv; Status_set_elements_x bvv; Test_cancelled ao; Status_set_cancelled bv
Status_get_source ao; Status_set_source bv; Status_get_tag ao; Status_set_tag bv; Status_get_error ao; Status_set_error bv
Op_create vvo; Op_free b; Op_commutative vo; Reduce_local sxvvv
Topo_test vo; Dims_create vvb; Cart_create vvaavo; Cart_coords vvvo; Cart_rank vao; Cart_shift vvvoo; Cart_get vvooo; Cart_sub vao; Cartdim_get vo; Cart_map vvaao
Graph_create vvaavo; Graphdims_get voo; Graph_get vvvoo; Graph_neighbors_count vvo; Graph_neighbors vvvo; Graph_map vvaao
Dist_graph_create_adjacent vvaavaavvo; Dist_graph_create vvaaaavvo; Dist_graph_neighbors_count vooo; Dist_graph_neighbors vvoovoo
Type_contiguous vvo; Type_vector vvvvo; Type_create_hvector vvvvo; Type_indexed vaavo; Type_create_hindexed vaavo; Type_create_indexed_block vvavo; Type_create_hindexed_block vvavo
Type_create_subarray vaaavvo; Type_create_darray vvvaaaavvo; Type_create_struct vaaao; Type_create_resized vvvo; Type_dup vo; Type_commit b; Type_free b
Type_size vo; Type_size_x vo; Type_get_extent voo; Type_get_extent_x voo; Type_get_true_extent voo; Type_get_true_extent_x voo; Type_get_name voo; Type_set_name va; Type_match_size vvo; Type_get_value_index vvo
Type_get_envelope voooo; Type_get_contents vvvvooo; Type_create_f90_real vvo; Type_create_f90_complex vvo; Type_create_f90_integer vo
Pack_size vvvo; Pack svvrvbv; Unpack svbrvvv; Pack_external_size avvo; Pack_external asvvrvb; Unpack_external asvbrvv
Get_address vo; Aint_add vv; Aint_diff vv
Comm_create_keyval vvov; Comm_free_keyval b; Comm_set_attr vvv; Comm_get_attr vvoo; Comm_delete_attr vv; Keyval_create vvov; Keyval_free b; Attr_put vvv; Attr_get vvoo; Attr_delete vv
Type_create_keyval vvov; Type_free_keyval b; Type_set_attr vvv; Type_get_attr vvoo; Type_delete_attr vv
Info_create o; Info_create_env vno; Info_free b; Info_set vaa; Info_delete va; Info_get vavoo; Info_get_string vaboo; Info_get_valuelen vaoo; Info_get_nkeys vo; Info_get_nthkey vvo; Info_dup vo
Comm_set_info vv; Comm_get_info vo
`

// ofCollectives are the roles of collectives. A nonblocking one has a request, too, and a persistent one an info and a request.
const ofCollectives = `
Barrier v; Bcast xvvvv; Reduce srvvvvv; Allreduce srvvvv; Scan srvvvv; Exscan srvvvv; Reduce_scatter sravvv; Reduce_scatter_block srvvvv
Gather svvrvvvv; Gatherv svvraavvv; Scatter svvrvvvv; Scatterv saavrvvvv; Allgather svvrvvv; Allgatherv svvraavv
Alltoall svvrvvv; Alltoallv saavraavv; Alltoallw saaaraaav
Neighbor_allgather svvrvvv; Neighbor_allgatherv svvraavv; Neighbor_alltoall svvrvvv; Neighbor_alltoallv saavraavv; Neighbor_alltoallw saaaraaav
`

// onlyInC are the roles of further functions of MPI that Fortran does not have: handles as numbers, statuses of Fortran, sessions, large counts.
const onlyInC = `
Type_get_envelope_c vooooo; Type_get_contents_c vvvvvoooo
Comm_c2f v; Comm_f2c v; Comm_toint v; Comm_fromint v; Errhandler_c2f v; Errhandler_f2c v; Errhandler_toint v; Errhandler_fromint v; File_c2f v; File_f2c v; File_toint v; File_fromint v
Group_c2f v; Group_f2c v; Group_toint v; Group_fromint v; Info_c2f v; Info_f2c v; Info_toint v; Info_fromint v; Message_c2f v; Message_f2c v; Message_toint v; Message_fromint v
Op_c2f v; Op_f2c v; Op_toint v; Op_fromint v; Request_c2f v; Request_f2c v; Request_toint v; Request_fromint v; Type_c2f v; Type_f2c v; Type_toint v; Type_fromint v
Win_c2f v; Win_f2c v; Win_toint v; Win_fromint v; Session_c2f v; Session_f2c v; Session_toint v; Session_fromint v
Status_c2f ao; Status_f2c ao; Status_c2f08 ao; Status_f082c ao; Status_f2f08 ao; Status_f082f ao
Session_init vvo; Session_finalize b; Session_get_info vo; Session_get_num_psets vvo; Session_get_nth_pset vvvbo; Session_get_pset_info vao
Session_set_errhandler vv; Session_get_errhandler vo; Session_call_errhandler vv; Group_from_session_pset vao; Comm_create_from_group vavvo; Intercomm_create_from_groups vvvvavvo
`

// removed are the roles of functions of MPI-1 that MPI 3.0 has removed.
const removed = `
Address vo; Errhandler_set vv; Errhandler_get vo; Type_struct vaaao; Type_hvector vvvvo; Type_hindexed vaavo; Type_extent vo; Type_lb vo; Type_ub vo
`

// withLargeCounts are functions that, besides collectives, have a form with large counts, whose name ends on _c, and the same roles.
const withLargeCounts = `Send Ssend Bsend Rsend Isend Issend Ibsend Irsend Recv Irecv Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace Send_init Ssend_init Bsend_init Rsend_init Recv_init
Psend_init Precv_init Buffer_attach Buffer_detach Mrecv Imrecv Get_count Get_elements Status_set_elements Op_create Reduce_local
Type_contiguous Type_vector Type_create_hvector Type_indexed Type_create_hindexed Type_create_indexed_block Type_create_hindexed_block Type_create_subarray Type_create_darray Type_create_struct
Type_create_resized Type_size Type_get_extent Type_get_true_extent Pack_size Pack Unpack Pack_external_size Pack_external Unpack_external`

// bothLanguages are the functions with large counts that Fortran has.
const bothLanguages = `Get_count Get_elements Status_set_elements Type_size Type_get_extent Type_get_true_extent Pack_size Pack Unpack Pack_external_size Pack_external Unpack_external`

// addMPI adds the functions of MPI. It returns the names of those that Fortran has, too.
func addMPI() (inBoth []string) {
	roles := map[string]string{}
	both := func(all map[string]string) {
		for name, r := range all {
			roles[name] = r
			inBoth = append(inBoth, name)
		}
	}
	both(entries(ofMPI))
	both(entries(removed))
	large := strings.Fields(withLargeCounts)
	for name, r := range entries(ofCollectives) {
		later := "I" + strings.ToLower(name[:1]) + name[1:]
		both(map[string]string{name: r, later: r + "o", name + "_init": r + "vo"})
		if name != "Barrier" {
			large = append(large, name, later, name+"_init")
		}
	}
	for name, r := range entries(onlyInC) {
		roles[name] = r
	}
	for _, name := range large {
		roles[name+"_c"] = roles[name]
	}
	for _, name := range strings.Fields(bothLanguages) {
		inBoth = append(inBoth, name+"_c")
	}
	for name, r := range roles {
		table["MPI_"+name] = &Effect{Kind: Course, Roles: r, Group: groupOf(name, r), Clock: name == "Wtime" || name == "Wtick"}
	}
	for _, name := range []string{"Get_address", "Address", "Aint_add", "Aint_diff"} {
		table["MPI_"+name].Kind = Pure
	}
	return inBoth
}

// The groups of payload that is not that of one collective. The datatype of a message between two ranks is the second argument behind the buffer.
const (
	Messages    = "messages"
	Partitioned = "partitioned messages"
	Packing     = "packing"
)

// groupOf returns the group of a function with payload: messages between two ranks are one, each collective operation is one. An
// operation that does not block does not match one that does (MPI 4.1, 6.12). What is packed and unpacked is one.
func groupOf(name, roles string) string {
	if !strings.ContainsAny(roles, "srx") {
		return ""
	}
	name = strings.TrimSuffix(name, "_c")
	switch strings.TrimSuffix(name, "_init") {
	case "Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend", "Recv", "Irecv", "Mrecv", "Imrecv", "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace":
		return Messages
	case "Psend", "Precv":
		return Partitioned
	case "Pack", "Unpack", "Pack_external", "Unpack_external":
		return Packing
	}
	return name
}

// Canonical returns the name of a function of MPI without its prefix, in small letters, alike in C and Fortran, and with the same name for large counts; "" for
// other functions.
func Canonical(name string) string {
	rest, is := strings.CutPrefix(name, "MPI_")
	if !is {
		if rest, is = strings.CutPrefix(name, "mpi_"); !is {
			return ""
		}
		rest, _ = strings.CutSuffix(rest, "_")
	}
	return strings.TrimSuffix(strings.ToLower(rest), "_c")
}

// refused are the reasons why functions of MPI are not in the table, by the begin of their names in small letters. Longer begins come first.
var refused = []struct{ begin, reason string }{
	{"comm_create_errhandler", handlers}, {"file_create_errhandler", handlers}, {"session_create_errhandler", handlers}, {"win_create_errhandler", handlers}, {"errhandler_create", handlers},
	{"grequest_start", "MPI calls functions of the program when the request is waited for, asked or freed"},
	{"get_hw_resource_info", unserved}, {"file_", "a skeleton has not the data that files hold"}, {"register_datarep", "a skeleton has not the data that files hold"},
	{"win_", windows}, {"put", windows}, {"get", windows}, {"rput", windows}, {"rget", windows}, {"raccumulate", windows}, {"accumulate", windows},
	{"fetch_and_op", windows}, {"compare_and_swap", windows},
	{"t_", "it asks the library about itself"},
	{"comm_spawn", processes}, {"comm_accept", processes}, {"comm_connect", processes}, {"comm_join", processes}, {"open_port", processes}, {"close_port", processes},
	{"publish_name", processes}, {"unpublish_name", processes}, {"lookup_name", processes},
	{"abi_", unserved}, {"buffer_", unserved}, {"comm_", unserved}, {"session_", unserved},
}

const (
	handlers  = "MPI calls the function of the error handler from any call that fails"
	windows   = "other ranks read and write the memory of a window at any time"
	processes = "native ranks start no processes, and do not meet those of other runs"
	unserved  = "gigarank does not serve it"
)

// Refusal returns why a function of MPI is not in the table, "" if there is no reason, or it is no function of MPI.
func Refusal(name string) string {
	if rest, is := strings.CutPrefix(name, "P"); is && Canonical(rest) != "" {
		return "its second name goes around functions that the program may put in the place of the first: call MPI_…"
	}
	if rest, is := strings.CutPrefix(name, "pmpi_"); is && rest != "" {
		return "its second name goes around functions that the program may put in the place of the first: call MPI_…"
	}
	short := Canonical(name)
	if short == "" {
		return ""
	}
	for _, r := range refused {
		if strings.HasPrefix(short, r.begin) {
			return r.reason
		}
	}
	return ""
}
