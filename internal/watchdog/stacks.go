package watchdog

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Goroutine returns the number of the goroutine that calls it.
func Goroutine() uint64 {
	buffer := make([]byte, 64)
	text, _ := bytes.CutPrefix(buffer[:runtime.Stack(buffer, false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// goroutine is one goroutine as the runtime prints it.
type goroutine struct {
	number  uint64
	creator uint64 // number of the goroutine that has started it
	pulled  bool   // it runs in turn with others, by iter.Pull
	state   string
	stack   []string // lines: calls, each followed by its place
}

var (
	head    = regexp.MustCompile(`^goroutine (\d+)[^\[]*\[([^\],]*)`)
	created = regexp.MustCompile(`^created by (.*) in goroutine (\d+)$`)
)

// stacks returns all goroutines of the process.
func stacks() []goroutine {
	for size := 1 << 20; ; size *= 2 {
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, true); n < size || size >= 1<<28 {
			return parse(string(buffer[:n]))
		}
	}
}

func parse(text string) (all []goroutine) {
	for block := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		m := head.FindStringSubmatch(lines[0])
		if m == nil {
			continue
		}
		g := goroutine{number: number(m[1]), state: m[2], stack: lines[1:]}
		for _, line := range lines[1:] {
			if m := created.FindStringSubmatch(line); m != nil {
				g.creator, g.pulled = number(m[2]), strings.HasPrefix(m[1], "iter.Pull")
			}
		}
		all = append(all, g)
	}
	return all
}

func number(digits string) uint64 {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// waits reports whether a goroutine waits for another one.
func (g *goroutine) waits() bool {
	for _, state := range []string{"chan ", "select", "semacquire", "sync."} {
		if strings.HasPrefix(g.state, state) {
			return true
		}
	}
	return false
}

// blockedIn returns the stack of a waiting goroutine that goroutine home has started, or that runs in
// turn with such a one, and the place where it waits. Both are empty if there is none. A goroutine is not
// blocked if one that it has started may go on by itself.
func blockedIn(all []goroutine, home uint64) (stack, where string) {
	started := map[uint64]bool{}
	for i := range all {
		started[all[i].number] = all[i].creator == home
	}
	for i := range all {
		g := &all[i]
		if (started[g.number] || g.pulled && started[g.creator]) && g.waits() && !lively(all, g.number) {
			if where := g.where(); where != "" {
				return strings.Join(g.stack, "\n"), where
			}
		}
	}
	return "", ""
}

// lively reports whether a goroutine that creator has started, directly or in turn, may
// go on by itself: it runs, sleeps or waits for the host.
func lively(all []goroutine, creator uint64) bool {
	for i := range all {
		if g := &all[i]; g.creator == creator && g.number != creator {
			if !g.waits() && g.state != "coroutine" || lively(all, g.number) {
				return true
			}
		}
	}
	return false
}

// ours matches calls of the simulator, whose packages wait in ways of their own.
var ours = regexp.MustCompile(`^gigarank/(sync|engine|lp|mpivirt)(/.*)?\.`)

// where returns the state of a goroutine and the place, outside the standard library,
// where it waits. It returns "" if that place is in the simulator.
func (g *goroutine) where() string {
	for i := 0; i+1 < len(g.stack); i += 2 {
		call, place := g.stack[i], strings.TrimSpace(g.stack[i+1])
		if first, _, _ := strings.Cut(call, "/"); strings.HasPrefix(call, "runtime.") || strings.HasPrefix(call, "sync.") ||
			first == "internal" {
			continue
		}
		if ours.MatchString(call) {
			return ""
		}
		place, _, _ = strings.Cut(place, " ")
		return fmt.Sprintf("%s at %s", g.state, path.Base(place))
	}
	return g.state
}
