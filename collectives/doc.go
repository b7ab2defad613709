// Package collectives describes each collective algorithm of MPI once, as a pure
// schedule that can be interpreted in several ways.
//
// # Model
//
// A collective has P members, 0 to P−1, and goes through rounds. In a round a member
// sends at most one message and then receives at most one. It stores the received blocks
// or combines them with its own ([Step]). A message sent in round k is received in round
// k, or some rounds later within a window of rounds, whose messages do not wait for each other. A member's working buffer has W positions; a message carries a set of them
// ([Blocks]). A [Layout] defines the bytes of each position; in every layout, position
// p is block p. A [Schedule] defines where a member's input enters the buffer and where
// its output leaves it (Source, Result).
//
// Rounds only give messages their names: no member waits for a round to end.
//
// # Sources
//
// Dissemination: Hensgen, Finkel, Manber, "Two algorithms for barrier
// synchronization", 1988. Recursive doubling, halving, binomial trees, ring and
// pairwise exchange, and the folding of member counts that are no powers of two:
// Thakur, Rabenseifner, Gropp, "Optimization of collective communication
// operations in MPICH", 2005. Rabenseifner's allreduce: Rabenseifner,
// "Optimization of collective reduction operations", 2004. Bruck: Bruck, Ho,
// Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications
// in multiport message-passing systems", 1997. Neighbor exchange: Chen, Zhang, Zhang, Yuan,
// "Performance evaluation of allgather algorithms on terascale Linux cluster with fast
// Ethernet", 2005. Ring allreduce: Patarasuk, Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009. Chains, binary,
// in-order binary and k-nomial trees, binomial trees of doubling distances, and the synchronised gather:
// the source of Open MPI 4.1, coll_base_topo.c and coll_base_gather.c. The broadcast by scatter and allgather: van de
// Geijn, in Thakur et al.; its chunks and its doubling for any number of members: the sources of MPICH and
// Open MPI, bcast_intra_scatter_recursive_doubling_allgather.c and coll_base_bcast.c. The reduction of Rabenseifner
// folds as MPICH's reduce_intra_reduce_scatter_gather.c. Algorithms by
// nodes: the sources of MPICH 4 (smp) and of Open MPI 4.1 and 5 (han), whose files smp.go and han.go
// name.
//
// # Invariants
//
//   - Every send has exactly one receive, in the round that its step names and of as many positions.
//     Members that step through their rounds in order, with blocking receives, never
//     deadlock, whether or not a window waits at its end for its messages to be received.
//   - A schedule has O(1) state. A step costs no allocation and at most
//     O(log P) time.
//   - An algorithm that is [Ordered] combines contiguous ranks, lower ⊕ higher.
//     Recursive doubling and Rabenseifner combine in the same tree, that of
//     [TreeFold], and all members get the same bits.
//   - The binomial reduction gives the same bits for every root.
//
// # Use
//
//	s, err := collectives.New(collectives.Allreduce, collectives.Ring, 64, 0)
//	…
//	layout := collectives.LayoutOf(collectives.Allreduce, s, count, size)
//	for r := s.Next(member, 0); r < s.Rounds(member); r = s.Next(member, r+1) {
//		step := s.Step(member, r)
//		if step.To != collectives.None {
//			send(step.To, r+step.Later, layout.Bytes(step.Send, s.Positions()))
//		}
//		if step.From != collectives.None {
//			receive(step.From, r)
//		}
//	}
//
// Exchanges that libraries begin at once and then wait for, by requests, are windows. A pipeline has none: libraries post its
// receives ahead, and send to several children by requests. Here a member of a tree
// sends one message after another; the message to the last of the most children goes in one round with the
// next segment. The difference has an effect above the eager limit only: a message waits for the one before it to leave.
//
// A node-leader barrier or allreduce is the join of the ranks of each node,
// [LeaderSchedule] among the leaders, and the release. Join and release depend on the
// target machine and are not described here.
//
// A barrier by [GivenTime] has no schedule: the machine gives the time from the last entry to the
// exits. [Offload], where the network sums vectors, has no schedule either. Only machines with such
// a time or network have these algorithms, and there they are the defaults. [TorusTrees], [TorusRings], [TorusDirect] and
// [TorusSpread] are Fujitsu MPI's trinaryx3 and trinaryx6, 3dtorus, simple and doublespread, by their measured times, and the algorithms of Adachi et al., "The design of
// ultra scalable MPI collective communication on the K computer", 2013: the machine gives their times, and a library chooses them.
package collectives
