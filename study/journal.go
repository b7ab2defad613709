package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"gigarank/internal/spelling"
)

// Journal is the journal of a study of a machine.
type Journal struct {
	lines[Record]
	// attempts are the points that were killed, and the point that is under way.
	attempts []attempt
}

// ScalingJournal is the journal of a study of the simulator.
type ScalingJournal struct{ lines[ScalingRecord] }

// lines is the file of results, with a record in each line. A record that Append has
// accepted is on the disk, and stays there whatever happens to the process or the
// machine. Only one process at a time has a journal open.
type lines[R record] struct {
	dir     string
	file    *os.File
	end     int64 // of the last whole line
	records []R
	dropped int64 // bytes of a torn end
	made    bool  // the directory, by this process
}

// record is the content of a line.
type record interface {
	// schemas returns the versions of the record's fields and of its document's. A record
	// without a document has failed.
	schemas() (own, document int, failed bool)
}

func (r Record) schemas() (own, document int, failed bool) {
	return r.Schema, r.Result.Schema, false
}

func (r ScalingRecord) schemas() (own, document int, failed bool) {
	return r.Schema, r.Result.Schema, r.Error != ""
}

// DamagedError says that something outside the study has changed its files.
type DamagedError struct{ text string }

func (e *DamagedError) Error() string { return e.text }

// The files that a study leaves in its directory.
const (
	ResultsFile = "results.jsonl"
	TableFile   = "results.csv"
	ReportFile  = "report.html"
)

// OpenJournal opens the results of a directory, which it makes if necessary. With
// resume it takes over the records there, without a last line that was torn when its
// writer was killed. Without resume it refuses a directory that has results.
func OpenJournal(dir string, resume bool) (*Journal, error) {
	l, err := openLines[Record](dir, resume)
	if err != nil {
		return nil, err
	}
	j := &Journal{lines: *l}
	if err := j.takeOverKilled(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// OpenScalingJournal is OpenJournal for a study of the simulator.
func OpenScalingJournal(dir string, resume bool) (*ScalingJournal, error) {
	l, err := openLines[ScalingRecord](dir, resume)
	if err != nil {
		return nil, err
	}
	return &ScalingJournal{*l}, nil
}

func openLines[R record](dir string, resume bool) (*lines[R], error) {
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s cannot be made: %w; name a directory in one that exists and is writable", dir, err)
	}
	path := filepath.Join(dir, ResultsFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w; name a directory that is writable", path, err)
	}
	j := &lines[R]{dir: dir, file: file, made: errors.Is(missing, fs.ErrNotExist)}
	if err := j.takeOver(path, resume); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *lines[R]) takeOver(path string, resume bool) error {
	// Some parallel file systems have no locks: there the user takes care.
	if err := unix.Flock(int(j.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("%s is in use by another process: wait for its end, or name another directory", path)
	}
	text, err := io.ReadAll(j.file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > 0 && !resume {
		return fmt.Errorf("%s holds results: go on with them by --resume, or name another directory", path)
	}
	if err := j.parse(path, text); err != nil {
		return err
	}
	if j.dropped = int64(len(text)) - j.end; j.dropped > 0 {
		if err := j.cut(); err != nil {
			return err
		}
	}
	if err := j.checkDirectory(); err != nil {
		return err
	}
	return syncDirectory(j.dir)
}

// checkDirectory returns an error if files of the directory cannot be replaced.
func (j *lines[R]) checkDirectory() error {
	if err := unix.Access(j.dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w; make it writable, or name another directory", j.dir, err)
	}
	return nil
}

// Check returns a *DamagedError if the file of results is not as this process has left it,
// or if the directory can no longer be written.
func (j *lines[R]) Check() error {
	path := filepath.Join(j.dir, ResultsFile)
	damaged := func(what string) error {
		return &DamagedError{fmt.Sprintf("%s %s: something else works in that directory; the results so far go into %s and %s there, if it can be written",
			path, what, TableFile, ReportFile)}
	}
	own, err := j.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return damaged("was removed while the study went on")
	case err != nil:
		return &DamagedError{fmt.Sprintf("%s can no longer be reached: %v", path, err)}
	case !os.SameFile(own, there):
		return damaged("was replaced by another file while the study went on")
	case there.Size() != j.end:
		return damaged(fmt.Sprintf("has %d bytes and not the %d that the study has written", there.Size(), j.end))
	}
	if err := j.checkDirectory(); err != nil {
		return &DamagedError{err.Error()}
	}
	return nil
}

// parse reads the lines. A line at the end of the file that is no record may be torn;
// anywhere else it is a fault.
func (j *lines[R]) parse(path string, text []byte) error {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		r, err := parseRecord[R](line)
		schema, _, _ := r.schemas()
		switch {
		case err == nil:
			j.records = append(j.records, r)
			j.end += int64(len(line))
		case schema != 0 && schema != Schema && json.Valid(line):
			return fmt.Errorf("%s:%d: a record of schema %d, and this build has %d: name another directory", path, number, schema, Schema)
		case isTorn[R](text[j.end:], len(j.records) == 0):
			return nil
		default:
			return fmt.Errorf("%s:%d: no record of a study: %w: name another directory, or in results of a study restore the line, or remove it to simulate its point again",
				path, number, err)
		}
	}
	return nil
}

var errNoEnd = errors.New("it has no end")

func parseRecord[R record](line []byte) (r R, err error) {
	err = json.Unmarshal(line, &r)
	own, document, failed := r.schemas()
	summed, holds := checkSum(line)
	switch {
	case err != nil:
	case !summed && hasUnknownFields[R](line):
		err = errors.New("it has no checksum, and fields that are unknown")
	case summed && !holds:
		err = errors.New("its checksum does not hold: the line was changed")
	case own != Schema || document == 0 && !failed:
		err = errors.New("fields are missing")
	case !bytes.HasSuffix(line, []byte("\n")):
		err = errNoEnd
	}
	return r, err
}

// sumField is the last field of a line: 16 hexadecimal digits over the line without it. Lines
// of versions that had none are taken, if they have no other field than a record has.
const sumField = `,"checksum":"`

func sum(line []byte) string {
	digest := sha256.Sum256(line)
	return hex.EncodeToString(digest[:8])
}

// withSum returns the line of a record in JSON, with its checksum.
func withSum(record []byte) []byte {
	rest := bytes.TrimSuffix(record, []byte("}"))
	return fmt.Appendf(nil, "%s%s%s\"}\n", rest, sumField, sum(record))
}

// checkSum reports whether a line has a checksum, and whether it is that of its content.
func checkSum(line []byte) (summed, holds bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	at := bytes.LastIndex(line, []byte(sumField))
	if at < 0 {
		return false, false
	}
	record := append(bytes.Clone(line[:at]), '}')
	return true, bytes.Equal(bytes.TrimSuffix(withSum(record), []byte("\n")), line)
}

// hasUnknownFields reports whether an object has fields that a record has not.
func hasUnknownFields[R record](line []byte) bool {
	var r R
	strict := json.NewDecoder(bytes.NewReader(line))
	strict.DisallowUnknownFields()
	return strict.Decode(&r) != nil
}

// isTorn reports whether the end of a file, from the first line that is no record, can
// be the rest of the one record that was being written. File systems put zeros where a
// block has not reached the disk. If nothing comes before, the file may be anyone's:
// then it must also begin like a record.
func isTorn[R record](rest []byte, alone bool) bool {
	line := bytes.TrimRight(rest, "\x00\n")
	if len(line) == 0 {
		return true
	}
	if bytes.ContainsRune(line, '\n') {
		return false
	}
	if json.Valid(line) {
		_, err := parseRecord[R](line)
		return errors.Is(err, errNoEnd)
	}
	return !alone || line[0] == '{' || line[0] == 0
}

// cut removes everything after the last whole line.
func (j *lines[R]) cut() error {
	err := errors.Join(j.file.Truncate(j.end), j.file.Sync())
	if err != nil {
		return fmt.Errorf("%s: a torn line at its end cannot be removed: %w", j.file.Name(), err)
	}
	return nil
}

// syncDirectory writes the name of a new file to the disk.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some file systems cannot: then the name is as safe as they make it.
	if err = d.Sync(); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Dropped returns the bytes of a torn line that was removed.
func (j *lines[R]) Dropped() int64 { return j.dropped }

// Append adds a record and returns once it is on the disk. After an error the
// file ends with the record before. It is a *DamagedError if the file is not as it was left.
func (j *lines[R]) Append(r R) error {
	if err := j.Check(); err != nil {
		return fmt.Errorf("the result was not written: %w", err)
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("study: a record that is no JSON: %v", err))
	}
	line = withSum(line)
	if _, err = j.file.WriteAt(line, j.end); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the result was not written: %w", err), j.cut())
	}
	j.end += int64(len(line))
	j.records = append(j.records, r)
	return nil
}

// Close closes the file. Without results it removes the file, and the directory if that is empty and
// was made for it.
func (j *lines[R]) Close() error {
	if j.end > 0 || j.Check() != nil {
		return j.file.Close()
	}
	err := os.Remove(filepath.Join(j.dir, ResultsFile))
	if j.made {
		_ = os.Remove(j.dir) // fails if it holds anything
	}
	return errors.Join(err, j.file.Close())
}

// Outcome returns the last record of each point of a plan, in its order, and the number
// of records in the file that belong to no point of it.
func (j *Journal) Outcome(p *Plan) (records []Record, others int) {
	last := map[Point]int{}
	for i, r := range j.records {
		last[r.Point] = i
	}
	for _, point := range p.Points {
		if i, done := last[point]; done {
			records = append(records, j.records[i])
			delete(last, point)
		}
	}
	return records, len(last)
}

// Finished returns the points of a plan that have been simulated without a failure. It
// is an error if another version of gigarank has simulated some, since the results must
// not be mixed, unless mix is set.
func (j *Journal) Finished(p *Plan, version string, mix bool) (map[Point]bool, error) {
	records, _ := j.Outcome(p)
	done := map[Point]bool{}
	foreign, by := 0, ""
	for _, r := range records {
		if r.Error != "" {
			continue
		}
		done[r.Point] = true
		if r.Version != version {
			foreign, by = foreign+1, r.Version
		}
	}
	if foreign > 0 && !mix {
		return nil, fmt.Errorf("%s has %s by gigarank %s, and this is %s: go on with the same build, name another directory, or take them by --mix-versions",
			j.file.Name(), spelling.Count(foreign, "point"), by, version)
	}
	return done, nil
}

// Outcome returns the last record of each point of a study that has ended well under a
// launcher, in its order. It is an error if another version of gigarank has made a run,
// since wall times must not be mixed.
func (j *ScalingJournal) Outcome(s *Scaling, launcher, version string) (records []ScalingRecord, err error) {
	last := map[ScalingPoint]ScalingRecord{}
	for _, r := range j.records {
		last[r.Point] = r
	}
	for _, point := range s.Points {
		r, done := last[point]
		switch {
		case !done || r.Error != "":
		case r.Version != version || r.Launcher != launcher:
			return nil, fmt.Errorf("%s has a run by gigarank %s with host processes by %s, and this is %s by %s: go on with the same, or name another directory",
				j.file.Name(), r.Version, r.Launcher, version, launcher)
		default:
			records = append(records, r)
		}
	}
	return records, nil
}
