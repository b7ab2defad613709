package native

import (
	"hash/fnv"
	"sync"
)

// Journal has the calls of MPI that ranks of this process make, so that two runs can be compared.
type Journal struct {
	wanted map[int]int // by rank, the call whose text is kept

	lock  sync.Mutex
	calls map[int][]uint64 // by rank, digests of calls in their order
	texts map[int]string   // of wanted calls
}

// NewJournal returns an empty journal, which keeps the texts of one call of some ranks.
func NewJournal(wanted map[int]int) *Journal {
	return &Journal{wanted: wanted, calls: map[int][]uint64{}, texts: map[int]string{}}
}

// add adds a call of a rank. Where returns its line.
func (j *Journal) add(rank int, text string, where func() string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	j.lock.Lock()
	defer j.lock.Unlock()
	if n, is := j.wanted[rank]; is && n == len(j.calls[rank]) {
		j.texts[rank] = text + " in " + where()
	}
	j.calls[rank] = append(j.calls[rank], h.Sum64())
}

// Differs returns, by rank, the number of the first call that differs in another journal.
func (j *Journal) Differs(o *Journal) map[int]int {
	first := map[int]int{}
	for _, of := range []*Journal{j, o} {
		for rank := range of.calls {
			a, b := j.calls[rank], o.calls[rank]
			n := 0
			for n < len(a) && n < len(b) && a[n] == b[n] {
				n++
			}
			if n < max(len(a), len(b)) {
				first[rank] = n
			}
		}
	}
	return first
}

// Text returns the text of a rank's wanted call, with its line.
func (j *Journal) Text(rank int) string {
	if text := j.texts[rank]; text != "" {
		return text
	}
	return "no further call"
}
