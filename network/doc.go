// Package network describes the target machine: the node of each rank, the distance between nodes,
// and the cost of a message.
//
// # Model
//
// A [Machine] is a description without a number of ranks. A [Target] is a
// machine laid out for N ranks. A target answers three questions. Each answer is a
// pure function of the machine and N.
//
//   - Where is a rank? The mapping puts ranks on nodes: block fills the nodes one
//     after another, cyclic assigns the ranks in turn, random:SEED fills the
//     nodes with the ranks in random order, file:PATH lists each rank's node. The
//     random order is a Feistel permutation with cycle walking (Black and Rogaway,
//     2002), so a billion ranks need no table.
//   - How far apart are two nodes? The topology's hop function counts the links of
//     a minimal route, in closed form. A route between two nodes of a star or fat
//     tree counts the links to its switches too. A dragonfly's is the minimal
//     route of Kim et al. (2008), over at most one global link. A fat tree is the
//     k-ary n-tree of Petrini and Vanneschi (1997), a twisted torus that of
//     Cámara et al. (2010).
//   - How long does a message take? The delay model defines it; see below.
//
// # Delay models
//
//	flat      latency + bytes/bandwidth, the same between all pairs
//	twolevel  the same with parameters for one node (intra) and for two (inter)
//	factors   latency·f + bytes/(bandwidth·g), intra and inter; f and g are factors by message
//	          size, as smpi/lat-factor and smpi/bw-factor of SimGrid's SMPI
//	table     measured delays by message size, intra and inter: linear between
//	          two sizes, flat below the first, the last slope above the last
//	levels    the innermost level that unites the two ranks has latency and
//	          bandwidth, or a table: socket, node, leaf switch, group, machine
//	hops      bytes/B_mem + bytes/B_net + latency + hops·latency_per_hop, or for
//	          no hops memory_latency + 2·bytes/B_mem
//	loggops   L, o, g, G, O, S as in LogGOPSim (Hoefler, Schneider and
//	          Lumsdaine, 2010), see [Target.Depart] and [Target.TakeIn];
//	          without O and S it is LogGP, without G as well LogP
//
// With latency_per_hop, any model adds the hops between two nodes times that parameter to the
// latency; without it a topology would have no effect, and is an error. An allocation gives the
// places in the topology of a job's nodes: as a list of places, or as the shape of a torus or mesh
// of the job's own.
//
// The delay of every model but loggops is the delay of the network. In addition a message costs
// each processor its overhead. Each rank has a port, which takes and delivers one message per gap.
// Overhead and gap are 0 unless the machine gives them. The sender's processor is busy for the
// overhead and then copies the bytes: under hops in bytes/B_mem, else at once. The message leaves
// after the overhead. The receiver's processor is busy likewise when the rank takes the message in.
// A rank takes a message in when it completes the receive; if it completes several receives, it
// takes their messages in by arrival. See [Target.Send] and [Target.Receive].
//
// The gap does not grow with the bytes. Eager messages to different ranks share no
// bandwidth at their sender, so a linear scatter below the eager limit is a lower bound.
// loggops charges each byte to the port (G): take it where injection bandwidth matters.
//
// A message of more bytes than eager_limit goes by rendezvous, see [Target.Rendezvous]. The data of
// several such messages do not delay each other, even on the same path at the same time. Eager
// messages to one rank follow each other at the bandwidth of the path.
//
// Jitter is a random time that each message between nodes takes beyond its delay: uniform from 0 to
// a greatest time, exponential with a mean, Pareto or lognormal with a tail cut at a greatest
// time, or a time of a list. Each level may have its own jitter, the node included. It comes from counter-based random numbers, keyed by the seed of the simulation, the sender
// and the sender's name for the message. So the jitter is the same on any hosting. It is never
// negative, so that no lookahead shrinks. In a rendezvous the request has jitter. Messages from one
// rank to another still arrive in order.
//
// Interruptions keep a rank from sending and taking messages for random times: see [Target.Free]. They, too, only add to times, and are keyed by
// the seed and the rank.
//
// With progress calls, a rank handles REQ and ACK of a rendezvous, and the messages of nonblocking collectives, only
// while it is in an MPI call, see [Target.ProgressInCalls]; with progress waits, only in calls that wait, test or probe,
// see [Target.ProgressInWaits]. Otherwise it does so at once.
//
// In a collective a later entry makes no exit earlier. A wait for several point-to-point messages
// may end earlier if one of the messages comes later: messages of different sizes are then taken in
// another order. A gap beyond the receiver's overhead is hidden behind the copy of the larger
// message only if the larger message comes first.
//
// An omitted bandwidth is infinite. The transfer time of the bytes is computed in integers and
// rounded once, to the nearest picosecond, ties to even. So is a latency times a factor, by itself.
//
// loggops has state at the receiver ([Target.ReceiverState]): the cost of a message there depends
// on the other messages for the receiver and on the other work of its CPU. Each rank has an
// [Occupancy], which changes in the order of virtual time. Package mpivirt defines the order in
// which operations begin. A message is charged to the receiver's CPU as soon as the CPU and the
// interface are free, whether or not its receive is posted, as in LogGOPSim. A rendezvous frees its
// sender at the match.
//
// # Interfaces and memory of nodes
//
// Section node describes the network interfaces that the ranks of a node share
// ([Target.Interfaces]). Messages between nodes then delay each other ([Target.Contended]): each
// message occupies an interface of its sender's node and an interface of its receiver's node, for
// its bytes over the bandwidth plus a gap. Section node also gives the memory of the node
// ([Target.ContendedWithin]): each message within the node occupies it for the time in which it reads
// and writes the bytes ([Target.MemoryTime]), and so do sums ([Target.CombiningTime]) and copies
// ([Target.LocalCopyTimeAmong], [Target.BufferTime]). Section contention describes a network that all nodes
// share instead ([Target.Contention]): busses and links, scaled bandwidth, or fair shares, which may
// include each link of the topology ([Target.Routes]). Delay is the delay of an undisturbed message,
// without interfaces. Package contention has the arithmetic, and package mpivirt carries it out in
// the order of virtual time.
//
// # Types of nodes
//
// Fields node_types and nodes_of describe nodes that differ from the others: in the ranks that fit
// there, the ratio of CPU times, the links out and in ([Target.Links]), and the delay between two
// ranks ([Target.JoinsOn]). Mapping block then fills each node as far as its type has room, and
// [Target.KeepsBlocks] is false. Machines without types have no cost of it.
//
// # Nodes and switches
//
// The ranks of a node join in node-leader collectives ([Target.Joins]): the leader combines the vectors of
// the other ranks, or with levels of the node all ranks combine parts and share the bandwidth of the memory.
// A network may carry collectives out by itself: a barrier in the time of a table by nodes
// ([Target.BarrierTime]), sums of vectors in the times of a table by nodes and size or of a tree of switches
// ([Target.OffloadTime]). How far the nodes of a communicator are apart is a [Span]. Ranks that fill a torus
// may write along its links ([Target.TreesTime], [Target.RingsTime], [Target.DirectTime], [Target.SpreadTime]).
//
// # Registries
//
// Each delay model, topology and mapping is a file that reads, writes and computes it, and a line
// in the registry in model.go, topology.go or mapping.go. No other code depends on the name of an
// entry: callers ask the target for properties, such as [Target.KeepsBlocks],
// [Target.LeadersUniform], [Target.ReceiverState] or [Target.Copies]. The exception is [Target.LogGOPS]: closed forms, and a short way of occupying a
// processor, are those of loggops. Another occupier needs neither. Targets call the delays of
// models that depend only on nodes and hops without an interface. A conformance suite tests the
// laws of every entry.
//
// The package knows machines. It must not know programs, the order of messages, or the host that
// simulates them. It reads files only through functions of its callers.
//
// # Invariants
//
//   - Delay = Latency + Transfer, Latency >= 1 ps (a smaller figure counts as
//     1 ps), Transfer >= 0 and not falling in the bytes. Under factors the latency depends on
//     the bytes, and both may fall ([Target.LatencyBySize]); the sum is that of
//     [Target.LatencyAndTransfer].
//   - Latency and Transfer are pure functions, except that Transfer is not if the
//     target has [Target.SharedState].
//   - Hops is symmetric, and 0 from a node to itself.
//   - A sender is free again before its message arrives, and no effect of a message on
//     another rank is sooner than the Latency between the two, except in loggops.
//   - Lookahead is never above the Delay of any bytes between a pair of its ranges, nor above
//     the Join of one on a node.
//   - Delays equals Delay, element by element.
//   - Nodes are numbered densely from 0, and each holds at least one rank.
//   - A target is immutable. It takes memory for each rank only with mapping
//     file:PATH.
//
// # Machine files
//
// A machine file is YAML. This one shows each general field, with the default of each
// optional one beside it.
//
//	name: my-cluster
//	description: one line               # optional
//	source: where the figures are from  # optional
//	validated: what was compared        # optional: with measurements, and the error
//	fitted_to: ['op=allreduce,nodes=8'] # optional: measured collectives that figures come from
//	estimates: [network.intra.latency]  # optional: paths of figures that are estimates
//	library: openmpi-4.1                # optional: MPI library that chooses the algorithms of collectives
//	nodes: 1024                         # optional: as many as the ranks need
//	ranks_per_node: 12                  # optional: 1
//	mapping: block                      # optional: block
//	cpu_ratio: 0.8                      # optional: 1; time of a measured computation on a
//	                                    # core of the machine, over its time on the host
//	cpu_ratios: [{from: 0, to: 511, ratio: 0.5}] # optional: nodes whose ratio differs
//	energy: {compute: 6W, wait: 4W, node: 120W, interface: 60pJ/B} # optional: none; see [Energy]
//	node: {interfaces: 4, bandwidth: 25GB/s, message_gap: 45ns, rail: local, memory: 200GB/s} # optional: none
//	# contention: {model: links, busses: 16, out: 2, in: 1} # in place of node
//	# taper: 0.5                        # with contention: {model: fair, link: 25GB/s, topology: true}
//	node_types: {fat: {processors: 16, intra: {latency: 0.4us, bandwidth: 12GB/s}}} # optional: none
//	nodes_of: {512-575: fat}            # with node_types
//	topology: {kind: torus, dims: [8, 8, 16]}  # optional: star; needs latency_per_hop
//	allocation: {shape: [4, 8, 8]}      # optional: the first places; or {nodes: FILE}
//	network:
//	  model: twolevel
//	  intra: {latency: 0.5us, bandwidth: 6GB/s}
//	  inter: {latency: 5us, bandwidth: 2GB/s}
//	  latency_per_hop: 100ns            # optional: hops make no difference
//	  overhead: {send: 0.3us, receive: 0.3us} # optional: none; processor time per message
//	  partners: {most: 255, above: 1KiB, overhead: 5us} # optional: none; of linear collectives among more
//	  blocking_send: 0.5us              # optional: none; of each message of a linear scatter
//	  gap: 0.1us                        # optional: none; time between messages at a port
//	  jitter: {distribution: exponential, mean: 1us} # optional: none; or a
//	                                    # list of level and distribution
//	  interruptions: {interval: 5s, duration: 200us} # optional: none; of each rank
//	  eager_limit: 64KiB                # optional: none; larger messages use rendezvous
//	  progress: waits                   # optional: asynchronous; or calls; see above
//	  reduce: {bandwidth: 4GB/s}        # optional: infinite; bytes combined per second, or a list
//	                                    # of size and delay
//	  local_copy: {bandwidth: 7GB/s}    # optional: infinite; of a rank's own block in an alltoall,
//	                                    # or a list of size and delay, as for join; with it
//	                                    # a message to oneself takes a copy, at least its latency
//	  datatype: {time: 0.1us, block: 14ns} # optional: none; a derived datatype of a round of bruck
//	  fresh_memory: {above: 32MiB, bandwidth: 5GB/s} # optional: none; pages of long buffers of
//	                                    # collectives; above is optional: 32MiB
//	  congestion: {bandwidth: 6GB/s, longest: 64} # optional: none; links of a torus or mesh that
//	                                    # messages of a round share; longest is optional
//	  torus_writes: {begin: 6us, hop: 1.8us, take: 0.3us} # optional: none; collectives by writes along the
//	                                    # links of a torus
//	  poll: 100ns                       # optional: 100ns; a failing Test or Iprobe
//	  launch: 6us                       # optional: none; from a collective call to its first message
//	  barrier: {time: 3us}              # optional: none; from the last entry to the exits, or a
//	                                    # list of nodes and time
//	  join: [{size: 0, delay: 100ns}]   # optional: delays within a node; a join or release; or
//	                                    # {levels: LIST, bandwidth: 400GB/s}
//	  node_bcast: [{size: 8, delay: 300ns}] # optional: none; whole broadcasts of a node's ranks, beside a list of joins
//	  allreduce: [{nodes: 8, delays: [{size: 24, delay: 3us}]}] # optional: none; of the network
//	  spread: 64B                       # optional: as allreduce; longest bcast of the network
//	  # switches: {levels: LIST}        # in place of allreduce
//
// Topologies and their fields:
//
//	{kind: star}
//	{kind: ring}
//	{kind: mesh, dims: [4, 4]}            or torus; the last dimension varies fastest
//	{kind: torus, dimensions: 3}          or mesh; as nearly cubic as the nodes need
//	{kind: twisted-torus, dims: [8, 4], twist: 2}
//	{kind: tree, arity: 2}                a node at every vertex
//	{kind: fat-tree, arity: 4, levels: 3} nodes at the leaves; levels is optional
//	{kind: dragonfly, routers: 4, nodes_per_router: 2, groups: 9, global_links: 2}
//	                                      the last two are optional
//	{kind: hierarchy, levels: [{size: 16, hops: 3}, {hops: 5}]}
//	                                      from the inside out; a level may have a
//	                                      topology of its units instead of hops
//
// # Use
//
//	m, err := network.Load("xt5", os.ReadFile)
//	t, err := m.Target(1_000_000)
//	t.Delay(0, 12, 1024) // 5.512us
package network
