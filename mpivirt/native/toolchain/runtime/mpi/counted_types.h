/* The constructors of types with counts, and the functions that return the arguments of a constructor, which type_constructors.c
 * includes once for each sort of counts. */

COUNTED(MPI_Type_contiguous, COUNT count, MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	struct gigarank_datatype *of, *t;
	CHECK(part(old, &of));
	if (count < 0)
		return wrong_count("a count", count);
	CHECK(MADE(t = one(0, count, gigarank_extent(of), of), MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 1, new));
	KEEP(t, count);
	keep_part(t, of);
	return MPI_SUCCESS;
}

/* A type of blocks at even strides, which name and combiner count in elements or in bytes. */
#define STRIDED(name, sort, bytes, combiner, counts, places, keep) \
	COUNTED(name, COUNT count, COUNT length, sort stride, MPI_Datatype old, MPI_Datatype *new) { \
		struct gigarank_datatype *of, *t; \
		GIVEN(new, "newtype", MPI_ERR_TYPE); \
		CHECK(part(old, &of)); \
		if (count < 0 || length < 0) \
			return wrong_count("a count or block length", count < 0 ? count : length); \
		CHECK(MADE(t = strided(count, length, bytes, of), combiner, 0, counts, places, 1, new)); \
		KEEP(t, count); \
		KEEP(t, length); \
		keep(t, stride); \
		keep_part(t, of); \
		return MPI_SUCCESS; \
	}

STRIDED(MPI_Type_vector, COUNT, times(stride, gigarank_extent(of)), MPI_COMBINER_VECTOR, 3, 0, KEEP)
STRIDED(MPI_Type_create_hvector, DISTANCE, stride, MPI_COMBINER_HVECTOR, 2, 1, KEEP_DISTANCE)
#undef STRIDED

COUNTED(MPI_Type_indexed, COUNT count, const COUNT lengths[], const COUNT displacements[], MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	return listed(__func__, LARGE, &(struct list){.count = count, .lengths = LIST(lengths), .displacements = LIST(displacements)}, MPI_COMBINER_INDEXED, old, new);
}

COUNTED(MPI_Type_create_hindexed, COUNT count, const COUNT lengths[], const DISTANCE displacements[], MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	return listed(__func__, LARGE, &(struct list){.count = count, .lengths = LIST(lengths), .bytes = displacements}, MPI_COMBINER_HINDEXED, old, new);
}

COUNTED(MPI_Type_create_indexed_block, COUNT count, COUNT length, const COUNT displacements[], MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	return listed(__func__, LARGE, &(struct list){.count = count, .even = 1, .length = length, .displacements = LIST(displacements)}, MPI_COMBINER_INDEXED_BLOCK, old, new);
}

COUNTED(MPI_Type_create_hindexed_block, COUNT count, COUNT length, const DISTANCE displacements[], MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	return listed(__func__, LARGE, &(struct list){.count = count, .even = 1, .length = length, .bytes = displacements}, MPI_COMBINER_HINDEXED_BLOCK, old, new);
}

COUNTED(MPI_Type_create_struct, COUNT count, const COUNT lengths[], const DISTANCE displacements[], const MPI_Datatype types[], MPI_Datatype *new) {
	GIVEN(count <= 0 || lengths, "array_of_blocklengths", MPI_ERR_ARG);
	GIVEN(count <= 0 || displacements, "array_of_displacements", MPI_ERR_ARG);
	GIVEN(count <= 0 || types, "array_of_types", MPI_ERR_ARG);
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	struct gigarank_datatype *of, *t;
	CHECK(active(GIGARANK_NONE));
	if (count < 0 || count > INT_MAX)
		return wrong_count("a count", count);
	for (COUNT i = 0; i < count; i++) {
		CHECK(part(types[i], &of));
		if (lengths[i] < 0)
			return wrong_count("a block length", lengths[i]);
	}
	if ((t = gigarank_new_type((int32_t)count))) {
		for (COUNT i = 0; i < count; i++) {
			of = gigarank_type(types[i]);
			gigarank_add_piece(t, displacements[i], lengths[i], gigarank_extent(of), of);
		}
		gigarank_seal_type(t);
	}
	CHECK(MADE(t, MPI_COMBINER_STRUCT, 0, (int64_t)count + 1, count, (int)count, new));
	KEEP(t, count);
	for (COUNT i = 0; i < count; i++)
		KEEP(t, lengths[i]);
	for (COUNT i = 0; i < count; i++) {
		KEEP_DISTANCE(t, displacements[i]);
		keep_part(t, gigarank_type(types[i]));
	}
	return MPI_SUCCESS;
}

COUNTED(MPI_Type_create_resized, MPI_Datatype old, DISTANCE lower, DISTANCE extent, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	struct gigarank_datatype *of, *t;
	int64_t upper;
	CHECK(part(old, &of));
	if (__builtin_add_overflow(lower, extent, &upper))
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "a lower bound of %lld and an extent of %lld", (long long)lower, (long long)extent);
	if ((t = one(0, 1, 0, of)))
		gigarank_set_bounds(t, lower, upper);
	CHECK(MADE(t, MPI_COMBINER_RESIZED, 0, 0, 2, 1, new));
	KEEP_DISTANCE(t, lower);
	KEEP_DISTANCE(t, extent);
	keep_part(t, of);
	return MPI_SUCCESS;
}

COUNTED(MPI_Type_create_subarray, int n, const COUNT sizes[], const COUNT subsizes[], const COUNT starts[], int order, MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(n <= 0 || sizes, "array_of_sizes", MPI_ERR_ARG);
	GIVEN(n <= 0 || subsizes, "array_of_subsizes", MPI_ERR_ARG);
	GIVEN(n <= 0 || starts, "array_of_starts", MPI_ERR_ARG);
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	struct gigarank_datatype *of, *t;
	CHECK(part(old, &of));
	CHECK(check_order(order));
	if (n < 1)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "an array of %d dimensions", n);
	for (int i = 0; i < n; i++) {
		if (sizes[i] < 1)
			return wrong("sizes", i, sizes[i]);
		if (subsizes[i] < 1 || subsizes[i] > sizes[i])
			return wrong("subsizes", i, subsizes[i]);
		if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
			return wrong("starts", i, starts[i]);
	}
	int64_t stride = gigarank_extent(of), at = 0;
	struct gigarank_datatype *inner = one(0, 1, 0, of);
	for (int j = 0; inner && j < n; j++) { /* from the dimension whose elements are neighbours */
		int i = order == MPI_ORDER_C ? n - 1 - j : j;
		t = one(0, subsizes[i], stride, inner);
		gigarank_drop_handle(inner);
		inner = t;
		at = plus(at, times(starts[i], stride));
		stride = times(stride, sizes[i]);
	}
	CHECK(MADE(t = in_array(inner, at, stride), MPI_COMBINER_SUBARRAY, 2, 3 * (int64_t)n, 0, 1, new));
	keep_integer(t, n);
	KEEP_ALL(t, n, sizes);
	KEEP_ALL(t, n, subsizes);
	KEEP_ALL(t, n, starts);
	keep_integer(t, order);
	keep_part(t, of);
	return MPI_SUCCESS;
}

COUNTED(MPI_Type_create_darray, int size, int rank, int n, const COUNT sizes[], const int distributions[], const int arguments[], const int processes[], int order, MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	GIVEN(n <= 0 || (sizes && distributions && arguments && processes), "a list", MPI_ERR_ARG);
	struct gigarank_datatype *of, *t;
	int64_t all = 1;
	CHECK(part(old, &of));
	CHECK(check_order(order));
	if (n < 1)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "an array of %d dimensions", n);
	for (int i = 0; i < n; i++) {
		if (sizes[i] < 1)
			return wrong("gsizes", i, sizes[i]);
		if (processes[i] < 1)
			return wrong("psizes", i, processes[i]);
		if (distributions[i] != MPI_DISTRIBUTE_BLOCK && distributions[i] != MPI_DISTRIBUTE_CYCLIC && (distributions[i] != MPI_DISTRIBUTE_NONE || processes[i] != 1))
			return wrong("distribs", i, distributions[i]);
		if (distributions[i] != MPI_DISTRIBUTE_NONE && arguments[i] != MPI_DISTRIBUTE_DFLT_DARG
			&& (arguments[i] < 1 || (distributions[i] == MPI_DISTRIBUTE_BLOCK && (int64_t)arguments[i] * processes[i] < sizes[i])))
			return wrong("dargs", i, arguments[i]);
		all = times(all, processes[i]);
	}
	if (size < 1 || size != all || rank < 0 || rank >= size)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "process %d of %d in a grid of %lld", rank, size, (long long)all);
	int places[n], rest = rank;
	for (int i = n - 1; i >= 0; i--) { /* processes are counted by rows, whatever the order */
		places[i] = rest % processes[i];
		rest /= processes[i];
	}
	int64_t stride = gigarank_extent(of);
	struct gigarank_datatype *inner = one(0, 1, 0, of);
	for (int j = 0; inner && j < n; j++) {
		int i = order == MPI_ORDER_C ? n - 1 - j : j;
		int64_t block = arguments[i], whole = sizes[i];
		if (distributions[i] == MPI_DISTRIBUTE_NONE)
			block = whole;
		else if (arguments[i] == MPI_DISTRIBUTE_DFLT_DARG)
			block = distributions[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (whole - 1) / processes[i] + 1;
		t = dealt(whole, block, processes[i], places[i], stride, inner);
		gigarank_drop_handle(inner);
		inner = t;
		stride = times(stride, whole);
	}
	CHECK(MADE(t = in_array(inner, 0, stride), MPI_COMBINER_DARRAY, 3 * (int64_t)n + 4, n, 0, 1, new));
	keep_integer(t, size);
	keep_integer(t, rank);
	keep_integer(t, n);
	KEEP_ALL(t, n, sizes);
	keep_integers(t, n, distributions);
	keep_integers(t, n, arguments);
	keep_integers(t, n, processes);
	keep_integer(t, order);
	keep_part(t, of);
	return MPI_SUCCESS;
}
