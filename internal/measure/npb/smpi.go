package main

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed programs/barriers.c
var barriers []byte

// What SMPI is told for speed: not to measure computation, since gigarank does not either, and
// contexts that are switched by assembly. With dlopen, its default, each rank has variables of its
// own; the loop of barriers has none and does without.
var smpiOptions = []string{
	"--cfg=smpi/simulate-computation:no", "--cfg=contexts/factory:raw", "--log=root.thres:critical",
}

// smpi prints wall time and memory of simulations by gigarank and by SMPI. Both have a star of
// nodes with 50 us from node to node and 1 Gbit/s.
func smpi(s *settings) error {
	for _, tool := range []string{"smpicc", "smpiff", "smpirun"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("no %s: install SimGrid with SMPI (Debian's libsimgrid-dev)", tool)
		}
	}
	fmt.Println("| program | ranks | SMPI | gigarank, one engine | gigarank, two | SMPI is slower by | and larger by |\n| --- | --- | --- | --- | --- | --- | --- |")
	for _, class := range []string{"S", "W"} {
		for _, benchmark := range benchmarks {
			for _, n := range []int{16, 64, 128} {
				if benchmark == "DT" || !s.wants(benchmark, class, n) {
					continue
				}
				if root := int(math.Sqrt(float64(n))); (benchmark == "BT" || benchmark == "SP") && root*root != n {
					continue
				}
				theirs, err := s.build(simgrid, benchmark, class)
				if err != nil {
					return err
				}
				ours, err := s.build(s.native(), benchmark, class)
				if err != nil {
					return err
				}
				if err := s.beside(benchmark+"."+class, n, []string{"--cfg=smpi/privatization:dlopen", theirs}, ours, nil); err != nil {
					return err
				}
			}
		}
	}
	return s.besideInBarriers()
}

// besideInBarriers does likewise with ten barriers.
func (s *settings) besideInBarriers() error {
	if !s.wants("barriers", s.classes[0], firstOf(s.ranks)) {
		return nil
	}
	source, theirs, ours := filepath.Join(s.work, "barriers.c"), filepath.Join(s.work, "barriers.smpi"), filepath.Join(s.work, "barriers")
	if err := os.WriteFile(source, barriers, 0o666); err != nil {
		return err
	}
	for _, command := range [][]string{{"smpicc", "-O2", "-DSMPI", "-o", theirs, source}, {s.gigarank, "cc", "-O2", "-o", ours, source}} {
		if output, _, err := s.commands.run(context.Background(), command...); err != nil {
			return fmt.Errorf("%v: %w\n%s", command, err, output)
		}
	}
	for _, n := range []int{1 << 10, 1 << 14, 1 << 16} {
		if !s.wants("barriers", s.classes[0], n) {
			continue
		}
		// Guards would take more mappings than a process may have.
		options := []string{"--cfg=smpi/privatization:no", "--cfg=contexts/stack-size:64", "--cfg=contexts/guard-size:0", theirs, "10"}
		if err := s.beside("10 barriers", n, options, ours, []string{"10"}); err != nil {
			return err
		}
	}
	return nil
}

// beside runs a program by both, in turns, and prints a line.
func (s *settings) beside(name string, n int, smpi []string, ours string, arguments []string) error {
	platform, hosts, err := s.platform(n)
	if err != nil {
		return err
	}
	theirs := append([]string{"smpirun", "-platform", platform, "-hostfile", hosts, "-np", strconv.Itoa(n)}, append(smpiOptions, smpi...)...)
	commands := [][]string{theirs}
	for _, engines := range []string{"1", "2"} {
		commands = append(commands, s.simulation(ours, n, append([]string{"--machine", "gigabit-star", "--engines", engines, "--"}, arguments...)...))
	}
	outcomes := make([][]outcome, len(commands))
	for range s.runs {
		for i, command := range commands {
			if len(outcomes[i]) > 0 && (outcomes[i][0].err != nil || outcomes[i][0].wall > 30) {
				continue // once is enough
			}
			o := s.run(s.limit, command...)
			if o.err == nil && !o.verified() {
				o.err = fmt.Errorf("not verified")
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	them, one, two := middle(outcomes[0]), middle(outcomes[1]), middle(outcomes[2])
	if one.refused() != "" {
		return nil
	}
	if one.err != nil || two.err != nil {
		return fmt.Errorf("%s on %d ranks: %s; %s", name, n, one.fault(), two.fault())
	}
	slower, larger := "", ""
	if them.err == nil {
		slower, larger = fmt.Sprintf("%.1f", them.wall/min(one.wall, two.wall)), fmt.Sprintf("%.1f", float64(them.memory)/float64(one.memory))
	}
	fmt.Printf("| %s | %d | %s | %s | %s | %s | %s |\n", name, n, figures(them), figures(one), figures(two), slower, larger)
	return nil
}

// figures prints wall time and memory, or why there are none.
func figures(o outcome) string {
	if o.err != nil {
		if strings.Contains(o.err.Error(), "not at its end") {
			return o.err.Error()
		}
		return o.fault()
	}
	return fmt.Sprintf("%.2f s, %d MiB", o.wall, o.memory>>20)
}

// platform writes SimGrid's description of a star of n nodes, and the list of them.
func (s *settings) platform(n int) (platform, hosts string, err error) {
	platform, hosts = filepath.Join(s.work, fmt.Sprintf("star-%d.xml", n)), filepath.Join(s.work, fmt.Sprintf("hosts-%d", n))
	text := fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="node-" suffix="" radical="0-%d" speed="1Gf" bw="125MBps" lat="25us"/>
</platform>
`, n-1)
	if err := os.WriteFile(platform, []byte(text), 0o666); err != nil {
		return "", "", err
	}
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "node-%d\n", i)
	}
	return platform, hosts, os.WriteFile(hosts, []byte(list.String()), 0o666)
}
