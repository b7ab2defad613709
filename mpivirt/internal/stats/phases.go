package stats

import "gigarank/vtime"

// Phase is an activity of a process in VACED-SIM (Lin et al., 2013, table 2). The activities of a process follow each other, so
// that their times add up to the time of the process.
type Phase uint8

// The activities, in the order of the paper's table.
const (
	DataSending           Phase = iota // A_DS: in the starting phase, the processor sends DATA by the eager protocol
	RequestSending                     // A_RS: it sends REQ by the rendezvous protocol
	DataReceiving                      // A_DR: it receives DATA that had come by the eager protocol
	AckSending                         // A_AS: it sends ACK by the rendezvous protocol
	WaitingPhase                       // A_WT: the waiting phase, with the work that is done there
	SequentialComputation              // A_SC: computing, and combining in reductions
	NumberOfPhases
)

func (p Phase) String() string {
	return [...]string{"A_DS", "A_RS", "A_DR", "A_AS", "A_WT", "A_SC"}[p]
}

// Phases are times by activity of a process.
type Phases [NumberOfPhases]vtime.Duration

// PhaseSums sums the activities of processes up.
type PhaseSums [NumberOfPhases]struct {
	Count uint64
	Time  Total
}

// Note counts the activities that take time.
func (s *PhaseSums) Note(p *Phases) {
	for i, d := range p {
		if d > 0 {
			s[i].Count++
			s[i].Time.Add(d)
		}
	}
}

// NoteOne counts an activity if it takes time.
func (s *PhaseSums) NoteOne(p Phase, d vtime.Duration) {
	if d > 0 {
		s[p].Count++
		s[p].Time.Add(d)
	}
}

// noteFilled counts the activities of a process in a time, whose rest is the waiting phase; those that come last do not exceed the time.
func (s *PhaseSums) noteFilled(p *Phases, took vtime.Duration) {
	for i, d := range p {
		if d <= 0 || took <= 0 {
			continue
		}
		d = min(d, took)
		took -= d
		s[i].Count++
		s[i].Time.Add(d)
	}
	if took > 0 {
		s[WaitingPhase].Count++
		s[WaitingPhase].Time.Add(took)
	}
}

// Merge adds the activities of another engine.
func (s *PhaseSums) Merge(o *PhaseSums) {
	for i := range s {
		s[i].Count += o[i].Count
		s[i].Time.Merge(o[i].Time)
	}
}

// Fill adds the rest of a time to the waiting phase, and has the other activities not exceed the time.
func (p *Phases) Fill(took vtime.Duration) {
	for i := range p {
		p[i] = min(p[i], took)
		took -= p[i]
	}
	p[WaitingPhase] += took
}
