package main

import (
	"fmt"
	"math"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// interpreters compares the bulk interpreter with the message interpreter.
func interpreters(s *settings) (good int, faults []error) {
	for _, op := range collectives.Operations() {
		if !sized(op) {
			continue
		}
		for _, a := range collectives.Algorithms(op) {
			line, err := compare(s, op, a)
			_, _ = fmt.Fprintln(s.out, line)
			if err != nil {
				faults = append(faults, err)
			} else {
				good++
			}
		}
	}
	return good, faults
}

// compare runs an algorithm by messages, in bulk, and in bulk on three engines, and
// returns a line with the outcome.
func compare(s *settings, op collectives.Operation, a collectives.Algorithm) (line string, err error) {
	target, err := affordable(s, op, a)
	if err != nil {
		return "", err
	}
	m := meeting{target: target, op: op, algorithm: a, seed: s.seed, engines: 1, collectives: mpivirt.Message}
	messages, _, err := m.run()
	if err != nil {
		return "", err
	}
	line = fmt.Sprintf("%-14v %-23v %8d ranks %9d messages  %s", op, a, target.Ranks(), messages.Statistics.Messages, messages.Fingerprint)
	m.collectives = mpivirt.Bulk
	for _, m.engines = range []int{1, 3} {
		bulk, _, err := m.run()
		if err != nil {
			return line, err
		}
		if fault := differ(messages, bulk, m.engines, inBulk(target, op, a)); fault != "" {
			return line, fmt.Errorf("%v: in bulk on %d engines, %s", &m, m.engines, fault)
		}
	}
	return line, nil
}

// differ returns a difference between two runs that must be alike, "" if there is none.
// In bulk on one engine there must be fewer events, or the run was not in bulk.
func differ(messages, bulk *mpivirt.Result, engines int, inBulk bool) string {
	switch m, b := messages.Statistics, bulk.Statistics; {
	case bulk.Fingerprint != messages.Fingerprint:
		return fmt.Sprintf("the fingerprint is %s, by messages %s", bulk.Fingerprint, messages.Fingerprint)
	case bulk.VirtualTime != messages.VirtualTime:
		return fmt.Sprintf("the virtual time is %v, by messages %v", bulk.VirtualTime, messages.VirtualTime)
	case m.Messages != b.Messages:
		return fmt.Sprintf("there are %d messages, by messages %d", b.Messages, m.Messages)
	case engines == 1 && m.Messages > 0 && b.Events >= m.Events && inBulk:
		return fmt.Sprintf("there are %d events, by messages %d: it was not in bulk", b.Events, m.Events)
	}
	return ""
}

// inBulk reports whether an algorithm is carried out in bulk on one engine. Schedules with windows of several rounds are not. Where nodes have interfaces,
// the others are those by which all ranks wait for all, in rounds of one shape with messages of one size.
func inBulk(t *network.Target, op collectives.Operation, a collectives.Algorithm) bool {
	if a == collectives.NodeLeader {
		return op == collectives.Barrier || op == collectives.Allreduce || !t.Contended()
	}
	s, err := collectives.New(op, a, t.Ranks(), 0)
	switch {
	case err != nil || collectives.HasWindows(s):
		return false
	case !t.Contended():
		return true
	case collectives.TakesNodes(op, a):
		return false
	}
	switch op {
	case collectives.Barrier, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter:
	case collectives.Allreduce:
		if n := s.Positions(); n > 1 && payload%n != 0 {
			return false
		}
	default:
		return false
	}
	for round := range s.MaxRounds() {
		if p := s.Pattern(round); p.Kind == collectives.Irregular || p.Kind == collectives.Paired || p.Sent == collectives.Varies || p.Combined == collectives.Varies ||
			p.Kind == collectives.Strided && p.Count < 2 {
			return false
		}
	}
	return true
}

// affordable lays the machine out for the largest power of two of ranks at which the
// algorithm sends no more messages than allowed. Barrier and allreduce, the operations
// of large studies, may send all of them, the others an eighth.
func affordable(s *settings, op collectives.Operation, a collectives.Algorithm) (*network.Target, error) {
	ranks, most := 1, float64(s.messages)
	if op != collectives.Barrier && op != collectives.Allreduce {
		most /= 8
	}
	for 2*ranks <= s.ranks && (a == collectives.NodeLeader || expected(op, a, 2*ranks) <= most) {
		ranks *= 2
	}
	return s.machine.Target(int64(ranks))
}

// expected returns the number of messages that an algorithm sends, counted up to 256
// members. Beyond that it extrapolates the messages of a member. They double whenever
// the number of members does, if they did so last. Else they grow by as much as last,
// as with rounds over distances that double.
func expected(op collectives.Operation, a collectives.Algorithm, members int) float64 {
	const most = 256
	if members <= most {
		return count(op, a, members)
	}
	last, before := count(op, a, most)/most, count(op, a, most/2)/(most/2)
	if last > 1.9*before {
		return last * float64(members) / most * float64(members)
	}
	return (last + (last-before)*math.Log2(float64(members)/most)) * float64(members)
}

// count returns the number of messages over the steps of all members.
func count(op collectives.Operation, a collectives.Algorithm, members int) (messages float64) {
	schedule, err := collectives.New(op, a, members, 0)
	if err != nil {
		panic(err) // the registry has the pair
	}
	for m := range members {
		for round := schedule.Next(m, 0); round < schedule.Rounds(m); round = schedule.Next(m, round+1) {
			if schedule.Step(m, round).To != collectives.None {
				messages++
			}
		}
	}
	return messages
}
