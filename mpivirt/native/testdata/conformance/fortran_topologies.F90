! Virtual topologies, in Fortran: Cartesian grids, graphs and distributed graphs.
#include "handles.h"
program fortran_topologies
  use MODULE
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call dimensions()
  call grids()
  call graphs()
  call distributed()
  call errors()
  call report('fortran_topologies')
  call MPI_Finalize(ierr)

contains

  subroutine dimensions()
    integer :: two(2), fixed(3), some(4)
    two = 0
    call MPI_Dims_create(6, 2, two, ierr)
    call check(ierr == MPI_SUCCESS .and. all(two == [3, 2]), 'MPI_Dims_create of 6')
    two = 0
    call MPI_Dims_create(7, 2, two, ierr)
    call check(ierr == MPI_SUCCESS .and. all(two == [7, 1]), 'MPI_Dims_create of 7')
    fixed = [0, 3, 0]
    call MPI_Dims_create(6, 3, fixed, ierr)
    call check(ierr == MPI_SUCCESS .and. all(fixed == [2, 3, 1]), 'MPI_Dims_create with one given')
    some = [0, 0, 0, -7]
    call MPI_Dims_create(size, 3, some, ierr)
    call check(ierr == MPI_SUCCESS .and. product(some(1:3)) == size .and. some(1) >= some(2) .and. some(2) >= some(3) .and. some(4) == -7, 'MPI_Dims_create of all ranks')
  end subroutine

  ! The grid has all ranks, or all but the last. The second dimension is periodic.
  subroutine grids()
    HANDLE(MPI_Comm) :: grid, row, column, copy, none
    STATUS :: status
    integer :: dims(2), got(2), at(2), there(2), used, n, m, kind, source, destination, theirs
    logical :: periods(2), wraps(2), same
    used = merge(size - 1, size, size > 4)
    dims = 0
    periods = [.false., .true.]
    call MPI_Dims_create(used, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
    call check(ierr == MPI_SUCCESS .and. ((grid == MPI_COMM_NULL) .eqv. rank >= used), 'MPI_Cart_create')
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, n, ierr)
#ifdef GIGARANK
    call check(ierr == MPI_SUCCESS .and. n == merge(rank, MPI_UNDEFINED, rank < used), 'MPI_Cart_map')
#else
    ! The mapping is the implementation's own.
    call check(ierr == MPI_SUCCESS .and. (n == MPI_UNDEFINED .or. (n >= 0 .and. n < size)), 'MPI_Cart_map')
#endif
    if (grid == MPI_COMM_NULL) return
    call MPI_Comm_size(grid, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == used, 'the size of a grid')
    call MPI_Topo_test(grid, kind, ierr)
    call check(ierr == MPI_SUCCESS .and. kind == MPI_CART, 'MPI_Topo_test of a grid')
    call MPI_Cartdim_get(grid, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Cartdim_get')
    call MPI_Cart_get(grid, 2, got, wraps, at, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == dims) .and. all(wraps .eqv. periods), 'MPI_Cart_get')
    call check(at(1) == rank / dims(2) .and. at(2) == mod(rank, dims(2)), 'the coordinates of MPI_Cart_get')
    same = .true.
    do m = 0, used - 1
      call MPI_Cart_coords(grid, m, 2, there, ierr)
      same = same .and. ierr == MPI_SUCCESS .and. there(1) == m / dims(2) .and. there(2) == mod(m, dims(2))
      call MPI_Cart_rank(grid, there, n, ierr)
      same = same .and. ierr == MPI_SUCCESS .and. n == m
    end do
    call check(same, 'MPI_Cart_coords and MPI_Cart_rank')
    there = [at(1), at(2) - 3 * dims(2) - 1]
    call MPI_Cart_rank(grid, there, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == at(1) * dims(2) + mod(at(2) + dims(2) - 1, dims(2)), 'MPI_Cart_rank beyond a periodic dimension')
    call MPI_Cart_shift(grid, 0, 1, source, destination, ierr)
    call check(ierr == MPI_SUCCESS .and. source == merge(rank - dims(2), MPI_PROC_NULL, at(1) > 0), 'the source of MPI_Cart_shift')
    call check(destination == merge(rank + dims(2), MPI_PROC_NULL, at(1) + 1 < dims(1)), 'the destination of MPI_Cart_shift')
    call MPI_Cart_shift(grid, 1, -1, source, destination, ierr)
    call check(ierr == MPI_SUCCESS .and. source == at(1) * dims(2) + mod(at(2) + 1, dims(2)), 'the source of MPI_Cart_shift around')
    call check(destination == at(1) * dims(2) + mod(at(2) + dims(2) - 1, dims(2)), 'the destination of MPI_Cart_shift around')
    ! Around the ring of a row.
    theirs = -1
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, destination, 0, theirs, 1, MPI_INTEGER, source, 0, grid, status, ierr)
    call check(ierr == MPI_SUCCESS .and. theirs == source .and. OF(status, MPI_SOURCE) == source, 'MPI_Sendrecv in a row')
    ! Rows and columns.
    call MPI_Cart_sub(grid, [.false., .true.], row, ierr)
    call check(ierr == MPI_SUCCESS .and. row /= MPI_COMM_NULL, 'MPI_Cart_sub')
    call MPI_Cart_sub(grid, [.true., .false.], column, ierr)
    call check(ierr == MPI_SUCCESS .and. column /= MPI_COMM_NULL, 'MPI_Cart_sub of columns')
    call MPI_Comm_size(row, n, ierr)
    call MPI_Comm_rank(row, m, ierr)
    call check(n == dims(2) .and. m == at(2), 'the size and the rank of a row')
    call MPI_Cartdim_get(row, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 1, 'MPI_Cartdim_get of a row')
    call MPI_Cart_get(row, 1, got, wraps, there, ierr)
    call check(ierr == MPI_SUCCESS .and. got(1) == dims(2) .and. wraps(1) .and. there(1) == at(2), 'MPI_Cart_get of a row')
    call MPI_Comm_size(column, n, ierr)
    call MPI_Comm_rank(column, m, ierr)
    call check(n == dims(1) .and. m == at(1), 'the size and the rank of a column')
    call MPI_Cart_get(column, 1, got, wraps, there, ierr)
    call check(ierr == MPI_SUCCESS .and. got(1) == dims(1) .and. .not. wraps(1) .and. there(1) == at(1), 'MPI_Cart_get of a column')
    ! A copy has the topology, a split has none.
    call MPI_Comm_dup(grid, copy, ierr)
    call MPI_Topo_test(copy, kind, ierr)
    call MPI_Cart_coords(copy, rank, 2, there, ierr)
    call check(ierr == MPI_SUCCESS .and. kind == MPI_CART .and. all(there == at), 'a copy of a grid')
    call MPI_Comm_split(grid, 0, 0, none, ierr)
    call MPI_Topo_test(none, kind, ierr)
    call check(ierr == MPI_SUCCESS .and. kind == MPI_UNDEFINED, 'MPI_Topo_test without a topology')
    call MPI_Comm_free(row, ierr)
    call MPI_Comm_free(column, ierr)
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(none, ierr)
    call MPI_Comm_free(grid, ierr)
    call check(ierr == MPI_SUCCESS .and. grid == MPI_COMM_NULL, 'MPI_Comm_free of a grid')
  end subroutine

  ! A ring, of which each rank knows both neighbours.
  subroutine graphs()
    HANDLE(MPI_Comm) :: ring
    integer :: ends(64), edges(128), got(64), list(128), n, m, r, kind
    do r = 0, size - 1
      ends(r + 1) = 2 * (r + 1)
      edges(2 * r + 1) = mod(r + size - 1, size)
      edges(2 * r + 2) = mod(r + 1, size)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, .false., ring, ierr)
    call check(ierr == MPI_SUCCESS .and. ring /= MPI_COMM_NULL, 'MPI_Graph_create')
    call MPI_Topo_test(ring, kind, ierr)
    call check(ierr == MPI_SUCCESS .and. kind == MPI_GRAPH, 'MPI_Topo_test of a graph')
    call MPI_Graphdims_get(ring, n, m, ierr)
    call check(ierr == MPI_SUCCESS .and. n == size .and. m == 2 * size, 'MPI_Graphdims_get')
    got = -1
    list = -1
    call MPI_Graph_get(ring, 64, 128, got, list, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got(1:size) == ends(1:size)) .and. all(list(1:2 * size) == edges(1:2 * size)), 'MPI_Graph_get')
    call MPI_Graph_neighbors_count(ring, size - 1, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Graph_neighbors_count')
    list = -7
    call MPI_Graph_neighbors(ring, rank, 2, list, ierr)
    call check(ierr == MPI_SUCCESS .and. all(list(1:3) == [mod(rank + size - 1, size), mod(rank + 1, size), -7]), 'MPI_Graph_neighbors')
    call MPI_Graph_map(MPI_COMM_WORLD, size, ends, edges, n, ierr)
    call check(ierr == MPI_SUCCESS .and. (n == MPI_UNDEFINED .or. (n >= 0 .and. n < size)), 'MPI_Graph_map')
    call MPI_Comm_free(ring, ierr)
    if (size == 1) return
    ! One node less than ranks.
    n = size - 1
    do r = 0, n - 1
      ends(r + 1) = r + 1
      edges(r + 1) = mod(r + 1, n)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, n, ends, edges, .false., ring, ierr)
    call check(ierr == MPI_SUCCESS .and. ((ring == MPI_COMM_NULL) .eqv. rank >= n), 'MPI_Graph_create of some')
    if (ring == MPI_COMM_NULL) return
    call MPI_Comm_size(ring, m, ierr)
    call check(ierr == MPI_SUCCESS .and. m == n, 'the size of a graph')
    call MPI_Comm_free(ring, ierr)
  end subroutine

  ! Each rank sends to the next two, and weighs the edges by the sender.
  subroutine distributed()
    HANDLE(MPI_Comm) :: graph, copy
    integer :: sources(2), destinations(2), in(2), out(2), s(2), sw(2), d(2), dw(2), n, m, kind, i, next
    integer :: nodes(64), degrees(64), zeros(64), to(2), weights(2)
    logical :: weighted
    sources = [(mod(rank + 2 * size - 1 - i, size), i = 0, 1)]
    destinations = [(mod(rank + 1 + i, size), i = 0, 1)]
    in = sources + 10
    out = rank + 10
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in, 2, destinations, out, MPI_INFO_NULL, .false., graph, ierr)
    call check(ierr == MPI_SUCCESS .and. graph /= MPI_COMM_NULL, 'MPI_Dist_graph_create_adjacent')
    call MPI_Topo_test(graph, kind, ierr)
    call check(ierr == MPI_SUCCESS .and. kind == MPI_DIST_GRAPH, 'MPI_Topo_test of a distributed graph')
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2 .and. m == 2 .and. weighted, 'MPI_Dist_graph_neighbors_count')
    s = -1; sw = -1; d = -1; dw = -1
    call MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw, ierr)
    call check(ierr == MPI_SUCCESS .and. all(s == sources) .and. all(sw == in), 'the sources of MPI_Dist_graph_neighbors')
    call check(all(d == destinations) .and. all(dw == out), 'the destinations of MPI_Dist_graph_neighbors')
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call check(ierr == MPI_SUCCESS .and. graph /= MPI_COMM_NULL, 'MPI_Dist_graph_create_adjacent without weights')
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 1 .and. m == 1 .and. .not. weighted, 'MPI_Dist_graph_neighbors_count without weights')
    s = -1; d = -1
    call MPI_Dist_graph_neighbors(graph, 1, s, MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED, ierr)
    call check(ierr == MPI_SUCCESS .and. all(s == [sources(1), -1]) .and. all(d == [destinations(1), -1]), 'MPI_Dist_graph_neighbors without weights')
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, destinations, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 0 .and. m == 0 .and. weighted, 'MPI_Dist_graph_neighbors_count without edges')
    call MPI_Comm_free(graph, ierr)
    ! The same graph, of which each rank names the edges of the next one.
    next = mod(rank + 1, size)
    to = [mod(next + 1, size), mod(next + 2, size)]
    weights = next + 10
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [next], [2], to, weights, MPI_INFO_NULL, .false., graph, ierr)
    call check(ierr == MPI_SUCCESS .and. graph /= MPI_COMM_NULL, 'MPI_Dist_graph_create')
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2 .and. m == 2 .and. weighted, 'MPI_Dist_graph_neighbors_count of edges named elsewhere')
    s = -1; sw = -1; d = -1; dw = -1
    call MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw, ierr)
    call check(ierr == MPI_SUCCESS .and. equal(s, sources) .and. equal(sw, in), 'the sources named elsewhere')
    call check(equal(d, destinations) .and. equal(dw, out), 'the destinations named elsewhere')
    call MPI_Comm_dup(graph, copy, ierr)
    call MPI_Dist_graph_neighbors_count(copy, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2 .and. m == 2 .and. weighted, 'a copy of a distributed graph')
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(graph, ierr)
    ! Only rank 0 names edges: from all to itself.
    nodes = [(i, i = 0, 63)]
    degrees = 1
    zeros = 0
    call MPI_Dist_graph_create(MPI_COMM_WORLD, merge(size, 0, rank == 0), nodes, degrees, zeros, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call check(ierr == MPI_SUCCESS .and. graph /= MPI_COMM_NULL, 'MPI_Dist_graph_create by rank 0')
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted, ierr)
    call check(ierr == MPI_SUCCESS .and. n == merge(size, 0, rank == 0) .and. m == 1 .and. .not. weighted, 'MPI_Dist_graph_neighbors_count of a star')
    call MPI_Comm_free(graph, ierr)
  end subroutine

  ! equal reports whether two pairs have the same members.
  logical function equal(one, other)
    integer, intent(in) :: one(2), other(2)
    equal = all(one == other) .or. all(one == other(2:1:-1))
  end function

  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    call MPI_Error_class(code, class, ierr)
  end function

  subroutine errors()
    HANDLE(MPI_Comm) :: made, grid, null
    integer :: n, m, at(2), dims(2), two(2)
    logical :: periods(2), flag
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    at = 0
    periods = .false.
    null = MPI_COMM_NULL
    dims = [size + 1, 1]
    call MPI_Cartdim_get(MPI_COMM_WORLD, n, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cartdim_get without a grid')
    call MPI_Cart_rank(MPI_COMM_WORLD, at, n, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cart_rank without a grid')
    call MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, n, m, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cart_shift without a grid')
    call MPI_Cart_sub(MPI_COMM_WORLD, periods, made, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cart_sub without a grid')
    call MPI_Graphdims_get(MPI_COMM_WORLD, n, m, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Graphdims_get without a graph')
    call MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, n, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Graph_neighbors_count without a graph')
    call MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, n, m, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Dist_graph_neighbors_count without a graph')
    call MPI_Cart_get(MPI_COMM_WORLD, 2, two, periods, at, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cart_get without a grid')
    call MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, at, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Cart_coords without a grid')
    call MPI_Graph_get(MPI_COMM_WORLD, 2, 2, two, at, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Graph_get without a graph')
    call MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 2, two, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Graph_neighbors without a graph')
    call MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 2, two, at, 2, two, at, ierr)
    call check(class_of(ierr) == MPI_ERR_TOPOLOGY, 'MPI_Dist_graph_neighbors without a graph')
    call MPI_Topo_test(null, n, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Topo_test of MPI_COMM_NULL')
    call MPI_Graph_create(null, 1, [1], [0], .false., made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Graph_create of MPI_COMM_NULL')
    call MPI_Cart_create(null, 2, dims, periods, .false., made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Cart_create of MPI_COMM_NULL')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., made, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Cart_create of too many ranks')
    two = [2, 0]
    call MPI_Dims_create(7, 2, two, ierr)
    call check(class_of(ierr) == MPI_ERR_DIMS, 'MPI_Dims_create of 7 by 2')
    two = [-1, 0]
    call MPI_Dims_create(7, 2, two, ierr)
    call check(class_of(ierr) == MPI_ERR_DIMS, 'MPI_Dims_create with a negative number')
    dims(1) = size
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
    call MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN, ierr)
    at = [size, 0]
    call MPI_Cart_rank(grid, at, n, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Cart_rank outside')
#ifdef GIGARANK
    call MPI_Cart_coords(grid, size, 2, at, ierr)
    call check(class_of(ierr) == MPI_ERR_RANK, 'MPI_Cart_coords of a rank too high')
    call MPI_Cart_shift(grid, 2, 1, n, m, ierr)
    call check(class_of(ierr) == MPI_ERR_DIMS, 'MPI_Cart_shift in a dimension too high')
#else
    ! Open MPI may not look.
    call check(.true., 'MPI_Cart_coords of a rank too high')
    call check(.true., 'MPI_Cart_shift in a dimension too high')
#endif
    call MPI_Comm_free(grid, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

#include "checks.h"
end program
