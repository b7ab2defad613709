//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

// byAlias writes a statement that comes to memory by more than one name: pointers in arrays and structures, indices that memory holds, bytes.
func (g *generator) byAlias() {
	v, w, e := g.variable(false), g.variable(false), g.expression(false)
	memory := []string{"field", "next"}[g.IntN(2)]
	cell := []string{"cells[0]", "cells[1]", "cells[2]", "cells[" + g.variable(false) + " % 3]"}[g.IntN(4)]
	switch g.IntN(14) {
	case 0:
		g.put("places[%s & 1] = %s & 4 ? table + 8 : other;", v, w)
	case 1:
		g.put("places[%s & 1][%s & 31] = %s;", v, w, e)
	case 2:
		g.put("%s = places[%s & 1][%s & 31] & 1023;", v, w, g.variable(false))
	case 3:
		g.put("{ int **q = &places[%s & 1]; *q = p; (*q)[3] ^= %s; }", v, w)
	case 4:
		g.put("table[table[%s & 63] & 63] = %s;", v, e)
	case 5:
		g.put("%s[table[%s & 63] & 255] += other[table[%s & 63] & 63] & 7;", memory, v, w)
	case 6:
		g.put("for (int i = 0; i < 64; i++) next[table[i] & 255] = field[(other[i] ^ %s) & 255] * 0.5;", v)
	case 7:
		g.put("%s.at = &table[%s & 31]; *%s.at = %s;", cell, v, cell, e)
	case 8:
		g.put("%s = (%s.n + *cells[%s %% 3].at + (int)%s.x[1]) & 1023;", v, cell, w, cell)
	case 9:
		g.put("%s.n = %s; cells[%s %% 3].x[%s & 1] = %s & 15; cells[%d] = %s;", cell, e, v, w, v, g.IntN(3), cell)
	case 10:
		g.put("{ union { double d; unsigned n[2]; } bits; bits.d = %s[%s & 255]; bits.n[0] ^= (unsigned)%s; %s = (int)((bits.n[0] ^ bits.n[1] >> 20) & 1023); }", memory, v, w, v)
	case 11:
		g.put("((unsigned char *)table)[4 * (%s & 63)] = %s & 255;", v, w)
	case 12:
		g.put("{ double *f = %s & 1 ? field + 64 : next + 64; for (int i = 0; i < 64; i++) f[i] += i; }", v)
	default:
		g.put("turn(&places[0], &places[%s & 1], %s); turn(&p, &places[%d], %s);", v, w, g.IntN(2), v)
	}
}

// exchange writes calls of MPI that all ranks make: requests of which one is done, datatypes, flags that are reduced, what is packed, groups.
func (g *generator) exchange(right, left string) {
	v, w, e, u := g.variable(false), g.variable(false), g.expression(false), g.variable(true)
	const world = "MPI_COMM_WORLD"
	switch g.IntN(12) {
	case 0, 1: // one after another, in the order of times
		g.put("{ MPI_Request r[3]; int a[3] = {0}, which; for (int k = 0; k < 3; k++) MPI_Irecv(a + k, 1, MPI_INT, %s, 10 + k, %s, r + k);", left, world)
		g.put("for (int k = 0; k < 3; k++) { gigarank_compute(((%s ^ k) & 7) * 1e-6); MPI_Send(&table[(%s & 31) + k], 1, MPI_INT, %s, 10 + (k * 2) %% 3, %s); }", v, w, right, world)
		if g.IntN(2) == 0 {
			g.put("for (int k = 0; k < 3; k++) { MPI_Waitany(3, r, &which, &status); %s = (%s * 3 + which + %s) & 1023; } }", v, v, []string{"a[which]", "status.MPI_TAG", "1"}[g.IntN(3)])
		} else {
			g.put("int some, at[3], open = 3; (void)which; while (open > 0) { MPI_Waitsome(3, r, &some, at, MPI_STATUSES_IGNORE); for (int k = 0; k < some; k++) %s = (%s * 2 + at[k] + a[at[k]]) & 1023; open -= some; } }", v, v)
		}
	case 2:
		g.put("{ MPI_Datatype d; MPI_Type_vector(4, 2, 3 + (%s & 3), MPI_INT, &d); MPI_Type_commit(&d); MPI_Sendrecv(table + (%s & 7), 1, d, %s, 7, %s, 1, d, %s, 7, %s, MPI_STATUS_IGNORE); MPI_Type_free(&d); }",
			u, u, right, []string{"other", "other + 8"}[g.IntN(2)], left, world)
	case 3:
		g.put("{ MPI_Datatype d; MPI_Aint at[2], base; int n[2] = {1, 2}; MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE}; MPI_Get_address(&cells[0], &base); MPI_Get_address(&cells[0].n, at); MPI_Get_address(cells[0].x, at + 1);")
		g.put("at[0] -= base; at[1] -= base; MPI_Type_create_struct(2, n, at, of, &d); MPI_Type_commit(&d); cells[1].n = %s; MPI_Sendrecv(&cells[1], 1, d, %s, 8, &cells[%d], 1, d, %s, 8, %s, MPI_STATUS_IGNORE);", e, right, g.IntN(2)*2, left, world)
		g.put("MPI_Type_free(&d); %s = (cells[0].n ^ cells[2].n) & 1023; }", v)
	case 4: // data decide a flag, and the flag decides for all ranks
		g.put("{ int mine = %s, any = 0; MPI_Allreduce(&mine, &any, 1, MPI_INT, %s, %s); %s = any & 1023;", []string{"table[" + v + " & 63] > other[" + w + " & 63]", v + " > " + w, "field[" + v + " & 255] > 4"}[g.IntN(3)], []string{"MPI_MAX", "MPI_LOR", "MPI_SUM"}[g.IntN(3)], world, u)
		g.put("if (any) { gigarank_compute(((%s & 7) + 1) * 1e-6); MPI_Barrier(%s); } }", w, world)
	case 5: // a loop that a flag ends
		g.put("for (int k = 0; k < 4; k++) { int more = ((%s + k) & 7) > 2, any; for (int i = 0; i < 64; i++) next[i] += k; MPI_Allreduce(&more, &any, 1, MPI_INT, %s, %s); if (!any) break; gigarank_compute((k + 1) * 1e-6); %s = (%s * 5 + 1) & 1023; }",
			v, []string{"MPI_MIN", "MPI_MAX"}[g.IntN(2)], world, v, v)
	case 6:
		g.put("{ char room[300]; int at = 0, k = 0; MPI_Pack(&%s, 1, MPI_INT, room, 300, &at, %s); MPI_Pack(%s, 9, MPI_DOUBLE, room, 300, &at, %s);", v, world, []string{"field", "next"}[g.IntN(2)], world)
		g.put("MPI_Sendrecv_replace(room, at, MPI_PACKED, %s, 9, %s, 9, %s, &status); at = 0; MPI_Unpack(room, 300, &at, &k, 1, MPI_INT, %s); MPI_Unpack(room, 300, &at, next + 40, 9, MPI_DOUBLE, %s); %s = (k + at) & 1023; }", right, left, world, world, world, w)
	case 7:
		g.put("{ int all[8] = {0}; MPI_Gather(&%s, 1, MPI_INT, all, 1, MPI_INT, %s %% size, %s); MPI_Bcast(all, size, MPI_INT, %s %% size, %s); %s = all[%s %% size] & 1023; }", v, u, world, u, world, []string{u, w}[g.IntN(2)], u)
	case 8:
		g.put("{ int all[8] = {0}, sums = 0; MPI_Alltoall(table, 1, MPI_INT, all, 1, MPI_INT, %s); MPI_Scan(&%s, &sums, 1, MPI_INT, MPI_SUM, %s); %s = (all[%s %% size] + sums) & 1023; }", world, v, world, w, v)
	case 9:
		g.put("{ MPI_Request r[2]; MPI_Send_init(%s, 20, MPI_INT, %s, 11, %s, r); MPI_Recv_init(other, 64, MPI_INT, %s, 11, %s, r + 1);", []string{"table", "p"}[g.IntN(2)], right, world, left, world)
		g.put("for (int k = 0; k < 2; k++) { MPI_Startall(2, r); gigarank_compute(((%s & 3) + k) * 1e-6); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); table[k] = other[k + 3] & 1023; } MPI_Request_free(r); MPI_Request_free(r + 1); }", v)
	case 10:
		g.put("{ MPI_Request r; int n; MPI_Isend(table, (%s & 15) + 1, MPI_INT, %s, 12, %s, &r); MPI_Probe(MPI_ANY_SOURCE, 12, %s, &status); MPI_Get_count(&status, MPI_INT, &n); MPI_Recv(other, n, MPI_INT, status.MPI_SOURCE, 12, %s, MPI_STATUS_IGNORE); MPI_Wait(&r, MPI_STATUS_IGNORE); %s = (n * 7 + status.MPI_SOURCE) & 1023; }",
			v, right, world, world, world, w)
	default:
		g.put("{ MPI_Comm half; int most = 0; MPI_Comm_split(%s, %s & 1, rank, &half); MPI_Allreduce(&%s, &most, 1, MPI_INT, MPI_MAX, half); MPI_Bcast(next, 20, MPI_DOUBLE, 0, half); MPI_Comm_free(&half); %s = most; }", world, v, w, w)
	}
}
