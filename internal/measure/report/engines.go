package main

import (
	"fmt"
	"math"
	"strings"

	"gigarank/bench"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
)

// engines measures how cost grows with the number of engines, all in one process. One engine
// stands for one host.
func (m *meter) engines() ([]row, error) {
	var rows []row
	for _, part := range []func() ([]row, error){m.barrierOverEngines, m.vectors, m.otherEngines, m.protocols} {
		more, err := part()
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// barrierOverEngines measures a barrier of 4Mi ranks over more and more engines. It keeps the
// cost of each engine for the chart.
func (m *meter) barrierOverEngines() ([]row, error) {
	const line = "run barriertest --ranks 4Mi --lp event --machine xt5 --iterations 1 --engines "
	var rows []row
	var alone float64
	for engines := 1; engines <= 16384; engines *= 4 {
		samples, err := m.take(1, line+fmt.Sprint(engines))
		if err != nil {
			return rows, err
		}
		cpu := median(samples, func(s *sample) float64 { return s.cpu })
		messages := median(samples, func(s *sample) float64 { return s.TransportMessages })
		m.chart = append(m.chart, engineCost{engines, cpu / float64(engines), messages / float64(engines)})
		if engines == 1 {
			alone = cpu
			continue
		}
		bound := 0.0
		if engines == 4096 {
			bound = 3
		}
		rows = append(rows, row{fmt.Sprintf("barriertest, 4Mi event ranks, %d engines, CPU time of all", engines), cpu, "s", alone, "1 engine", bound, true})
	}
	last := m.chart[len(m.chart)-1]
	return append(rows, row{
		fmt.Sprintf("the same, %d engines, transport messages of each, with set-up and end", last.engines),
		last.messages, "", math.Log2(float64(last.engines)), "log2 of the engines", 4, true,
	}), nil
}

// outgoing counts the bytes that one engine sends.
type outgoing struct {
	sync.Transport
	bytes int
}

// Send implements [sync.Transport].
func (o *outgoing) Send(dst int, message []byte) error {
	o.bytes += len(message)
	return o.Transport.Send(dst, message)
}

// vectors counts the vectors that engines send for an allreduce of 1024 doubles.
func (m *meter) vectors() ([]row, error) {
	const iterations, doubles = 2, 1024
	var rows []row
	for _, engines := range []int{64, 1024} {
		machine, err := free()
		if err != nil {
			return rows, err
		}
		c := bench.Config{Options: bench.Options{Iterations: iterations}}
		c.Kind, c.Seed = steps.Kind, 1
		if c.Target, err = machine.Target(int64(12 * engines)); err != nil {
			return rows, err
		}
		ends := make([]*outgoing, engines)
		for i, end := range sync.NewInProcess(engines) {
			ends[i] = &outgoing{Transport: end}
			c.Transports = append(c.Transports, ends[i])
		}
		s, err := bench.New("allreducetest", c)
		if err != nil {
			return rows, err
		}
		if _, err := s.Run(); err != nil {
			return rows, err
		}
		bytes, most := 0, 0
		for _, end := range ends {
			bytes, most = bytes+end.bytes, max(most, end.bytes)
		}
		const vectors = iterations * 8 * doubles
		name := fmt.Sprintf("allreducetest, 1024 doubles, %d engines, bytes sent in vectors by ", engines)
		rows = append(rows,
			row{name + "each", float64(bytes) / vectors / float64(engines), "", 2, "up and down a tree", 1.5, true},
			row{name + "the busiest", float64(most) / vectors, "", math.Log2(float64(engines)), "log2 of the engines", 1.5, true},
		)
	}
	return rows, nil
}

// otherEngines measures the memory that an engine takes for each other one.
func (m *meter) otherEngines() ([]row, error) {
	const engines = 10_000
	const line = "run barriertest --ranks 4Mi --lp event --machine xt5 --iterations 1 --engines "
	memory := func(engines int) (float64, error) {
		samples, err := m.take(1, line+fmt.Sprint(engines))
		return median(samples, func(s *sample) float64 { return s.BytesPerRank * float64(s.Ranks) }), err
	}
	one, err := memory(1)
	if err != nil {
		return nil, err
	}
	all, err := memory(engines)
	if err != nil {
		return nil, err
	}
	return []row{{fmt.Sprintf("%d engines, memory of each for each other one, all that it has counted", engines),
		(all - one) / engines / (engines - 1), "B", 64, "floor", 1, true}}, nil
}

// protocols counts the synchronisation messages of phold on 1,024 engines for each event. There
// is a window of one lookahead, a tenth of a unit of time, from each event to the next one after
// it. In each of the nine every engine hears of all others: that takes two messages for each
// engine but one.
func (m *meter) protocols() ([]row, error) {
	const engines, windows = 1024, 9
	perEvent := map[string]float64{}
	var rows []row
	for _, protocol := range []string{"null", "conditional", "hybrid"} {
		samples, err := m.take(1, fmt.Sprintf("run phold --ranks 4096 --lp event --engines %d --iterations 1 --sync %s", engines, protocol))
		if err != nil {
			return rows, err
		}
		each := median(samples, func(s *sample) float64 { return s.SyncMessages / max(handled(s), 1) })
		least := median(samples, func(s *sample) float64 { return 2 * windows * (engines - 1) / max(handled(s), 1) })
		perEvent[protocol] = each
		rows = append(rows, row{fmt.Sprintf("phold, 4,096 LPs, %d engines, %s, synchronisation messages for each event", engines, protocol),
			each, "", least, "lower bound", 0, true})
	}
	return append(rows, row{"the same, hybrid", perEvent["hybrid"], "", min(perEvent["null"], perEvent["conditional"]), "the better of the others", 1.2, true}), nil
}

// engineCost is the cost of a barrier with set-up and end to each of a number of engines.
type engineCost struct {
	engines       int
	cpu, messages float64
}

// drawing returns a chart of the cost of each engine against the number of engines: bars over
// logarithmic steps of both.
func drawing(costs []engineCost) string {
	if len(costs) == 0 {
		return ""
	}
	var text strings.Builder
	draw := func(title, unit string, figure func(c engineCost) float64) {
		_, _ = fmt.Fprintf(&text, "\n%s\n\n", title)
		most := 0.0
		for _, c := range costs {
			most = max(most, figure(c))
		}
		for _, c := range costs {
			_, _ = fmt.Fprintf(&text, "%8d  %-40s %s\n", c.engines, strings.Repeat("#", int(math.Round(40*figure(c)/most))), strings.TrimSpace(quantity(figure(c), unit)))
		}
	}
	draw("Transport messages of each engine, by engines", "", func(c engineCost) float64 { return c.messages })
	ranks := float64(4 << 20)
	draw("CPU time of each engine beyond that of its ranks alone, by engines", "us", func(c engineCost) float64 {
		return max(0, c.cpu*1e6-costs[0].cpu*1e6*(ranks/float64(c.engines))/ranks)
	})
	return text.String()
}
