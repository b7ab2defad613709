package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KilledFile names the points whose simulation has been killed, while a study is not done.
const KilledFile = "killed.json"

// mostKills is the number of kills after which a point is left out.
const mostKills = 2

// attempt is a point whose simulation has begun and not ended in order.
type attempt struct {
	Point Point `json:"point"`
	// Kills counts the processes that were killed while they simulated the point.
	Kills int `json:"kills"`
	// UnderWay: the simulation goes on. After a kill nobody takes the mark back.
	UnderWay bool `json:"under_way"`
}

// takeOverKilled reads the attempts of the studies before. Nobody else has the journal open:
// what is under way was killed.
func (j *Journal) takeOverKilled() error {
	path := filepath.Join(j.dir, KilledFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j.attempts)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: remove it, to simulate the points that it names again", path, err)
	}
	for i := range j.attempts {
		if a := &j.attempts[i]; a.UnderWay {
			a.UnderWay = false
			a.Kills++
		}
	}
	return nil
}

// Kills returns how often a process was killed while it simulated a point, and whether the
// point is to be left out.
func (j *Journal) Kills(point Point) (kills int, leaveOut bool) {
	for _, a := range j.attempts {
		if a.Point == point {
			return a.Kills, a.Kills >= mostKills
		}
	}
	return 0, false
}

// Begin marks a point as under way. If the process is killed before End, that counts as a
// kill of the point.
func (j *Journal) Begin(point Point) error {
	for i := range j.attempts {
		if j.attempts[i].Point == point {
			j.attempts[i].UnderWay = true
			return j.keepAttempts()
		}
	}
	j.attempts = append(j.attempts, attempt{Point: point, UnderWay: true})
	return j.keepAttempts()
}

// End takes the mark of the point under way back. A point that is finished forgets its
// kills.
func (j *Journal) End(finished bool) error {
	kept := j.attempts[:0]
	for _, a := range j.attempts {
		if a.UnderWay && finished {
			continue
		}
		if a.UnderWay = false; a.Kills > 0 {
			kept = append(kept, a)
		}
	}
	j.attempts = kept
	return j.keepAttempts()
}

// keepAttempts writes the attempts. A kill loses nothing that was written, and a power cut
// is none: so it does not wait for the disk.
func (j *Journal) keepAttempts() error {
	path := filepath.Join(j.dir, KilledFile)
	fault := func(err error) error {
		return fmt.Errorf("%s, which names points that were killed, cannot be written: %w: make room for it, or name another directory", path, err)
	}
	if len(j.attempts) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault(err)
		}
		return nil
	}
	text, err := json.MarshalIndent(j.attempts, "", " ")
	if err != nil {
		panic(fmt.Sprintf("study: attempts that are no JSON: %v", err))
	}
	next := path + ".tmp"
	err = os.WriteFile(next, append(text, '\n'), 0o666)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return fault(err)
	}
	return nil
}
