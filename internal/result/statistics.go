package result

import "math/big"

// Statistics are the times of calls by their cause, summed over ranks. docs/statistics.md has the rules.
type Statistics struct {
	Times
	Efficiency *Efficiency `json:"efficiency,omitempty"`
	Calls      []CallTimes `json:"calls"`
	// Tasks has each rank; it is left out above 65,536 ranks.
	Tasks []Task `json:"tasks,omitempty"`
	// WaitedFor has the ranks for which others wait longest, at most MostWaitedFor, the greatest first; it is left out above 65,536 ranks.
	WaitedFor []WaitedFor `json:"waited_for,omitempty"`
	// Late is the time for which ranks wait for other ranks: of late senders, receivers, roots and members, and at barriers and n-to-n.
	Late *big.Int `json:"waiting_for_ranks_ps"`
	// Held is the part of Late in which other messages delay the rank that is late; it is left out above 65,536 ranks.
	Held *big.Int `json:"waiting_for_held_ranks_ps,omitempty"`
	// Phases are the six activities of a process in VACED-SIM.
	Phases []Phase `json:"vaced_sim"`
	// Bandwidths are the messages by the bandwidth that they saw, those of collectives included.
	Bandwidths []BandwidthClass `json:"bandwidths"`
	Matrix     *Matrix          `json:"matrix,omitempty"`
	// Sites are the calls by the place of the program that makes them, by place, then by function. They are there if they were asked for.
	Sites []Site `json:"call_sites,omitempty"`
	// Course is there if it was asked for.
	Course *Course `json:"course,omitempty"`
}

// Site sums up the calls of a function from a place of the program: function, file and line, such as "exchange (halo.c:42)", "" if it is not known.
type Site struct {
	Place    string `json:"place"`
	Function string `json:"function"`
	Count    uint64 `json:"count"`
	Bytes    uint64 `json:"bytes"`
	Times
	// Senders are the places of the sends for which the calls have waited as late sender, the longest first.
	Senders []LateSends `json:"late_senders,omitempty"`
}

// LateSends is the time for which calls have waited for late senders whose sends come from a place of the program, "" if it is not known.
type LateSends struct {
	Place string   `json:"place"`
	Time  *big.Int `json:"time_ps"`
}

// Course has the times of all ranks by cause, in bins of virtual time of equal width, of which the first begins at 0.
type Course struct {
	Width  int64                 `json:"width_ps"`
	Causes map[string][]*big.Int `json:"causes_ps"`
}

// MostWaitedFor is the number of ranks in WaitedFor.
const MostWaitedFor = 16

// WaitedFor is a rank for which others wait, the sum of their times, and the times by cause. A rank that is late since it waits for another
// rank is not waited for during that time, but the other rank. Held is the part of the time in which other messages delay the rank.
type WaitedFor struct {
	Rank   int                 `json:"rank"`
	Time   *big.Int            `json:"time_ps"`
	Held   *big.Int            `json:"held_ps,omitempty"`
	Causes map[string]*big.Int `json:"causes_ps"`
}

// MostlyAs returns the cause of most of the time, the first in the alphabet of several.
func (w *WaitedFor) MostlyAs() (most string) {
	for cause, d := range w.Causes {
		if most == "" || d.Cmp(w.Causes[most]) > 0 || d.Cmp(w.Causes[most]) == 0 && cause < most {
			most = cause
		}
	}
	return most
}

// BandwidthClass counts messages that saw a bandwidth from Low to High bytes a second: from a power of two up to the next. Bytes is the sum of their sizes;
// 2^64-1 stands for more, too.
type BandwidthClass struct {
	Low   int64  `json:"low_bytes_per_s"`
	High  int64  `json:"high_bytes_per_s"`
	Count uint64 `json:"count"`
	Bytes uint64 `json:"bytes"`
}

// Energy is what a run consumes on its machine, in joules.
type Energy struct {
	Joules float64 `json:"joules"`
	// Causes has the energy by cause: the causes of the ranks' time, "nodes" for the power of nodes by themselves, and "interfaces" for bytes
	// between nodes. Causes without energy are left out.
	Causes map[string]float64 `json:"causes_j"`
	// Nodes is the number of nodes, InterfaceBytes the bytes between nodes.
	Nodes          int    `json:"nodes"`
	InterfaceBytes uint64 `json:"interface_bytes"`
	// Watts is the mean power.
	Watts float64 `json:"mean_w"`
}

// Times are the time of calls or ranks, the part in which they wait, and the times by cause. Causes without time are left out.
type Times struct {
	Time    *big.Int            `json:"time_ps"`
	Waiting *big.Int            `json:"waiting_ps"`
	Causes  map[string]*big.Int `json:"causes_ps"`
}

// Efficiency has the efficiencies of POP that rest on computing times: load balance is the mean over the greatest, communication
// efficiency the greatest over the time of the run, and parallel efficiency their product. It is left out if no rank computes.
type Efficiency struct {
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Parallel      float64 `json:"parallel"`
	Greatest      int64   `json:"greatest_computing_ps"`
	GreatestRank  int     `json:"greatest_computing_rank"`
}

// CallTimes sums up the calls of a function on a communicator, "" for calls without one, and for all communicators together.
type CallTimes struct {
	Function     string `json:"function"`
	Communicator string `json:"communicator,omitempty"`
	Count        uint64 `json:"count"`
	Bytes        uint64 `json:"bytes"`
	Times
}

// Task sums up the calls of a rank. Its times include computing.
type Task struct {
	Rank  int    `json:"rank"`
	Count uint64 `json:"count"`
	Bytes uint64 `json:"bytes"`
	Times
	// Functions has the calls of the rank by function, on all communicators together; it is left out above 1,024 ranks.
	Functions []CallTimes `json:"functions,omitempty"`
}

// Phase sums up an activity of processes: "A_DS", "A_RS", "A_DR", "A_AS", "A_WT" or "A_SC".
type Phase struct {
	Activity string   `json:"activity"`
	Count    uint64   `json:"count"`
	Time     *big.Int `json:"time_ps"`
}

// Matrix has the bytes of messages point to point by sender, then by receiver. Each row and column is a block of Block ranks.
type Matrix struct {
	Block int        `json:"block"`
	Bytes [][]uint64 `json:"bytes"`
}
