package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"gigarank/cmd/gigarank/internal/host"
)

// A program in C need not free what it has allocated, since its process ends. Here the process goes on, with the next points, whose memory would
// count what those before have left. So a study of such a program begins anew in its process once much is left, as --resume does.

// leftBehind is the memory, in bytes, that points may leave.
const leftBehind = 32 << 20

// progressSoFar is what a study tells when it begins anew.
type progressSoFar struct {
	done, total int
	failed      []int // places among the points of the plan: they are not simulated again
}

func (p progressSoFar) String() string {
	return fmt.Sprintf("%d/%d %s", p.done, p.total, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.failed)), ","), "[]"))
}

// readProgress reads the text of a progress. It is the zero value for "".
func readProgress(text string) (p progressSoFar) {
	counts, failed, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscanf(counts, "%d/%d", &p.done, &p.total); err != nil {
		return progressSoFar{}
	}
	for one := range strings.SplitSeq(failed, ",") {
		if i, err := strconv.Atoi(one); err == nil {
			p.failed = append(p.failed, i)
		}
	}
	return p
}

// resident returns the memory that is resident once nothing of it is garbage.
func (s *conductor) resident() int64 {
	debug.FreeOSMemory()
	return host.ResidentMemory(s.console.Root, "self")
}

// restart begins the study anew in this process, with the points from the next on, if those before have left much memory. It does nothing if the
// process cannot, or if what it has read cannot be read again.
func (s *conductor) restart(next int) {
	if s.console.Restart == nil || s.hosts.Size > 1 || !isPath(s.words[0]) || s.unkept != nil || len(s.signals.Caught) > 0 ||
		slices.ContainsFunc(s.console.Arguments, passing) || s.resident() < s.before+leftBehind {
		return
	}
	progress := s.progress
	progress.done, progress.total = progress.done+next, progress.done+len(s.todo)
	_ = s.console.Restart(progress.String()) // it goes on here if there is no such way
}

// passing reports whether an argument may name a file that can be read once.
func passing(argument string) bool {
	return argument == "-" || strings.Contains(argument, "/dev/") || strings.Contains(argument, "/proc/")
}
