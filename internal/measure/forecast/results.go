package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// outcome is the cost of a run: bytes, and ns of user CPU.
type outcome struct{ Memory, Time float64 }

// comparison is a line of the file of results.
type comparison struct {
	Gigarank string // digest of the binary
	Point    point
	Left     bool // out, for what is foreseen or because the simulated program fails
	Foreseen outcome
	Taken    outcome // beyond a process of one rank
	Fault    string  // of the run
}

// recall reads the comparisons that the file of results has, if there is one.
func (s *search) recall() error {
	if s.results == "" {
		return nil
	}
	path, err := exec.LookPath(s.command)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s.digest, s.made = fmt.Sprintf("%x", sha256.Sum256(binary))[:16], map[point]comparison{}
	text, err := os.ReadFile(s.results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		var c comparison
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return fmt.Errorf("%s:%d: %w", s.results, number, err)
		}
		if c.Gigarank == s.digest {
			s.made[c.Point] = c
		}
	}
	return nil
}

// keep appends a comparison to the file of results.
func (s *search) keep(c *comparison) error {
	if s.results == "" {
		return nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
