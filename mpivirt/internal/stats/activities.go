package stats

import "gigarank/vtime"

// Activity is a kind of work that takes virtual time: a rank's computing, or a part of a message.
// The activities are the six of VACED-SIM (Lin et al., 2013).
type Activity uint8

// The activities. A message up to the eager limit has its copies and DATA; a longer message has all
// but Computation; a synchronous message has its copies, DATA and ACK.
const (
	Computation     Activity = iota // a phase that is not empty, with noise; combining in reductions
	SendCopy                        // the sender's processor: overhead, and the bytes to the network's memory
	Request                         // REQ under way
	Acknowledgement                 // ACK under way
	Data                            // the content under way
	ReceiveCopy                     // the receiver's processor: overhead, and the bytes to the user's buffer
	activities
)

func (a Activity) String() string {
	return [...]string{"computation", "copy at sender", "REQ", "ACK", "DATA", "copy at receiver"}[a]
}

// Activities sums the virtual times of each activity of an engine's ranks and their messages. The
// engine that computes the time of a message's part counts the part.
type Activities [activities]moments

// Note adds the time of an activity.
func (s *Activities) Note(a Activity, d vtime.Duration) { s[a].note(d) }

// NoteSame adds n equal times of an activity.
func (s *Activities) NoteSame(a Activity, d vtime.Duration, n uint64) { s[a].addRun(d, n) }

// Merge adds the activities of another engine.
func (s *Activities) Merge(o *Activities) {
	for i := range s {
		s[i].merge(&o[i])
	}
}

// ActivityTimes summarises one activity over all ranks and messages.
type ActivityTimes struct {
	Activity       Activity
	Count          uint64
	Min, Mean, Max vtime.Duration // Mean is rounded down
	PerRank        vtime.Duration // total over the number of ranks, rounded down
}

// Times returns the sums of all activities, for a number of ranks.
func (s *Activities) Times(ranks int) []ActivityTimes {
	var all []ActivityTimes
	for i := range s {
		m := &s[i]
		total := moments{sumHigh: m.sumHigh, sumLow: m.sumLow, count: uint64(ranks)}
		all = append(all, ActivityTimes{Activity: Activity(i), Count: m.count, Min: m.min, Mean: m.mean(), Max: m.max, PerRank: total.mean()})
	}
	return all
}

// Append appends the sums to b, in the form that Read reads.
func (s *Activities) Append(b []byte) []byte {
	for i := range s {
		b = s[i].append(b)
	}
	return b
}

// Read sets the sums from the bytes of Append and returns the rest of b.
func (s *Activities) Read(b []byte) (rest []byte) {
	r := reader{b}
	for i := range s {
		s[i].read(&r)
	}
	return r.b
}
