// Calls collectives and writes the messages that each rank sends below them, for Open MPI.
//
//   recorder FILE LINE...
//
// A LINE is "OPERATION BYTES ROOT"; BYTES are those of the vector, or of a rank's block. Each rank appends to
// FILE.RANK, for each line, the line itself and a line "> TO BYTES" for each message in the order of the
// calls that send. The library sends through the functions of its point-to-point component, mca_pml; here
// they are replaced while a collective is under way. Messages of a rank to itself are left out.

#include <ompi_config.h>
#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/pml/pml.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mca_pml_base_module_t library;
static int recording, rank, ranks;
static FILE *out;

static void fail(const char *what) {
    fprintf(stderr, "recorder: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void record(size_t count, struct ompi_datatype_t *type, int to, struct ompi_communicator_t *comm) {
    if (!recording || (comm == MPI_COMM_WORLD && to == rank)) {
        return;
    }
    int size;
    if (comm != MPI_COMM_WORLD) {
        // Components that split the communicator send within its parts.
        MPI_Group part, world;
        MPI_Comm_group(comm, &part);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_translate_ranks(part, 1, &to, world, &to);
        MPI_Group_free(&part);
        MPI_Group_free(&world);
    }
    MPI_Type_size(type, &size);
    fprintf(out, "> %d %zu\n", to, count * (size_t)size);
}

static int record_send(const void *buffer, size_t count, struct ompi_datatype_t *type, int to, int tag,
                       mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm) {
    record(count, type, to, comm);
    return library.pml_send(buffer, count, type, to, tag, mode, comm);
}

static int record_isend(const void *buffer, size_t count, struct ompi_datatype_t *type, int to, int tag,
                        mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm, struct ompi_request_t **request) {
    record(count, type, to, comm);
    return library.pml_isend(buffer, count, type, to, tag, mode, comm, request);
}

// A persistent send is recorded where it is made: collectives start each of them once, in this order.
static int record_isend_init(const void *buffer, size_t count, struct ompi_datatype_t *type, int to, int tag,
                      mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm, struct ompi_request_t **request) {
    record(count, type, to, comm);
    return library.pml_isend_init(buffer, count, type, to, tag, mode, comm, request);
}

static int is(const char *operation, const char *name) { return strcmp(operation, name) == 0; }

// whole returns memory for vectors or for a block of each rank. All calls share it.
static void *whole(size_t bytes, int which) {
    static void *memory[2];
    static size_t has[2];
    if (has[which] < bytes) {
        free(memory[which]);
        memory[which] = calloc(has[which] = bytes, 1);
        if (memory[which] == NULL) {
            fail("no memory");
        }
    }
    return memory[which];
}

static void call(const char *operation, long bytes, int root) {
    const int element = sizeof(double);
    const MPI_Comm w = MPI_COMM_WORLD;
    const MPI_Datatype t = MPI_DOUBLE;
    if (bytes % element != 0) {
        fail("the bytes are not those of whole elements");
    }
    int n = (int)(bytes / element), *counts = malloc(2 * ranks * sizeof *counts), *places = counts + ranks;
    for (int i = 0; i < ranks; i++) {
        counts[i] = n;
        places[i] = i * n;
    }
    void *in = whole(ranks * (size_t)bytes + 1, 0), *to = whole(ranks * (size_t)bytes + 1, 1);
    // No message of the barrier may be in the record of the collective.
    MPI_Barrier(w);
    recording = 1;
    if (is(operation, "barrier")) {
        MPI_Barrier(w);
    } else if (is(operation, "bcast")) {
        MPI_Bcast(in, n, t, root, w);
    } else if (is(operation, "reduce")) {
        MPI_Reduce(in, to, n, t, MPI_SUM, root, w);
    } else if (is(operation, "allreduce")) {
        MPI_Allreduce(in, to, n, t, MPI_SUM, w);
    } else if (is(operation, "gather")) {
        MPI_Gather(in, n, t, to, n, t, root, w);
    } else if (is(operation, "gatherv")) {
        MPI_Gatherv(in, n, t, to, counts, places, t, root, w);
    } else if (is(operation, "scatter")) {
        MPI_Scatter(in, n, t, to, n, t, root, w);
    } else if (is(operation, "scatterv")) {
        MPI_Scatterv(in, counts, places, t, to, n, t, root, w);
    } else if (is(operation, "allgather")) {
        MPI_Allgather(in, n, t, to, n, t, w);
    } else if (is(operation, "allgatherv")) {
        MPI_Allgatherv(in, n, t, to, counts, places, t, w);
    } else if (is(operation, "alltoall")) {
        MPI_Alltoall(in, n, t, to, n, t, w);
    } else if (is(operation, "alltoallv")) {
        MPI_Alltoallv(in, counts, places, t, to, counts, places, t, w);
    } else if (is(operation, "reduce_scatter")) {
        MPI_Reduce_scatter(in, to, counts, t, MPI_SUM, w);
    } else if (is(operation, "scan")) {
        MPI_Scan(in, to, n, t, MPI_SUM, w);
    } else if (is(operation, "exscan")) {
        MPI_Exscan(in, to, n, t, MPI_SUM, w);
    } else {
        fail("unknown operation");
    }
    recording = 0;
    free(counts);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[4096], operation[32];
    snprintf(path, sizeof path, "%s.%d", arguments[1], rank);
    if ((out = fopen(path, "w")) == NULL) {
        fail("the file cannot be written");
    }
    library = mca_pml;
    mca_pml.pml_send = record_send;
    mca_pml.pml_isend = record_isend;
    mca_pml.pml_isend_init = record_isend_init;
    for (int i = 2; i < count; i++) {
        long bytes;
        int root;
        if (sscanf(arguments[i], "%31s %ld %d", operation, &bytes, &root) != 3) {
            fail("a line is not OPERATION BYTES ROOT");
        }
        fprintf(out, "%s\n", arguments[i]);
        call(operation, bytes, root);
    }
    mca_pml = library;
    if (fclose(out) != 0) {
        fail("the file could not be written");
    }
    MPI_Finalize();
}
