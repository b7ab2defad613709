package result

// CriticalPath is the chain of computing, work for MPI and messages that ends the run. Its length is the virtual time of the run.
// docs/statistics.md says how it is found.
type CriticalPath struct {
	Share
	Rank      int             `json:"last_rank"` // on which the run ends, the least
	Changes   int             `json:"rank_changes"`
	Functions []FunctionShare `json:"functions"` // the greatest first
	Ranks     []RankShare     `json:"ranks"`     // by rank; those without a share are left out
}

// Share is a part of the critical path and its time by cause. Causes without time are left out.
type Share struct {
	Time   int64            `json:"time_ps"`
	Causes map[string]int64 `json:"causes_ps"`
}

// FunctionShare is the share of a function of MPI, or of "computing".
type FunctionShare struct {
	Function string `json:"function"`
	Share
}

// RankShare is the share of a rank.
type RankShare struct {
	Rank int `json:"rank"`
	Share
}
