package world

// Departures counts operations of a replay that did not take the course of the record.
type Departures struct {
	Waited  uint64 // tests and probes that found something in the record, and had to wait for it
	Found   uint64 // tests and probes that found nothing in the record, and found something
	Matched uint64 // receives with wildcards, and probes, that took a message of another source or with another tag
	// Passed counts requests that were complete before another request of the list of a Waitany, Waitsome, Testany or Testsome, which waited for the
	// other since that was the first in the record. It is not counted where processors have a state.
	Passed uint64
}

// Merge adds the departures of another engine.
func (d *Departures) Merge(o *Departures) {
	d.Waited, d.Found, d.Matched, d.Passed = d.Waited+o.Waited, d.Found+o.Found, d.Matched+o.Matched, d.Passed+o.Passed
}

func (d *Departures) words() []uint64 { return []uint64{d.Waited, d.Found, d.Matched, d.Passed} }

func (d *Departures) read(r *Reader) { *d = Departures{r.U64(), r.U64(), r.U64(), r.U64()} }
