package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Processors counts the processors of the system and their work.
type processors struct {
	Number int
	// Used is the time in seconds, since the start, in which they did something for any program, or
	// in which a host below took them.
	Used float64
}

// ticks is the number of ticks in a second, the unit of /proc/stat. Linux has it so for all programs.
const ticks = 100

// ReadProcessors asks the system. It returns an error where the system has no /proc/stat.
func ReadProcessors() (processors, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processors{}, err
	}
	return parseProcessors(string(text))
}

// parseProcessors reads a text such as that of /proc/stat: a line "cpu" with the ticks that all
// processors have spent as user, nice, system, idle, waiting for a disk, in interrupts of two sorts, and
// stolen by the host; then one for each processor.
func parseProcessors(text string) (p processors, err error) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, "cpu") {
			continue
		}
		if name != "cpu" {
			p.Number++
			continue
		}
		fields := strings.Fields(rest)
		for i, field := range fields[:min(len(fields), 8)] {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return processors{}, fmt.Errorf("/proc/stat: %w", err)
			}
			if i != 3 && i != 4 {
				p.Used += float64(n) / ticks
			}
		}
	}
	if p.Number == 0 {
		return p, errors.New("/proc/stat names no processor")
	}
	return p, nil
}
