package dim

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gigarank/internal/spelling"
)

// A configuration of Dimemas, a file .cfg, consists of records "title" {values};;. Bandwidths are in MB/s of 2^20 bytes, times in seconds. A bandwidth, a
// number of busses, or both numbers of links of 0 set no limit; links in one direction alone of 0 act as 1.

// configuration is the beginning of such a file.
const configuration = "#DIMEMAS_CONFIGURATION"

// infinite is a bandwidth at which the longest message takes less than a picosecond.
const infinite = "9000000000GB/s"

// nodes are equal nodes of a configuration.
type nodes struct {
	line               int
	number, processors int64
	speed              float64 // by which bursts are divided
	intra, startup     float64 // seconds
	bandwidth          float64 // within a node, in MB/s
	in, out            int64   // links
}

// machine is what a configuration says of the machine.
type machine struct {
	file     string
	line     int
	faults   []error
	leftOut  []string
	machines int
	number   int64 // of nodes, as the environment has it
	name     string
	network  float64 // bandwidth in MB/s
	busses   int64
	nodes    []nodes
	perNode  int64 // tasks; 0 for none given
}

func (m *machine) fault(format string, arguments ...any) {
	m.faults = append(m.faults, fmt.Errorf("%s, line %d: %s", m.file, m.line, fmt.Sprintf(format, arguments...)))
}

func (m *machine) leave(format string, arguments ...any) {
	m.leftOut = append(m.leftOut, fmt.Sprintf("line %d: %s", m.line, fmt.Sprintf(format, arguments...)))
}

var (
	recordOf = regexp.MustCompile(`(?s)^"([^"]*)"\s*\{(.*)\}$`)
	valueOf  = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]\s*\{[^}]*\}|[^,\s]+`)
	perNode  = regexp.MustCompile(`^([0-9]+) TASKS_PER_NODE$`)
)

// values reads the values of a record as numbers, 0 for a text, and reports a fault if there are not so many.
type values struct {
	m    *machine
	text []string
}

func (v values) number(i int) float64 {
	if i >= len(v.text) || strings.HasPrefix(v.text[i], `"`) {
		return 0
	}
	x, err := strconv.ParseFloat(v.text[i], 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > 1e15 {
		v.m.fault("%q is no number of a configuration", v.text[i])
		return 0
	}
	return x
}

func (v values) count(i int) int64 {
	x := v.number(i)
	if x != math.Trunc(x) || x > math.MaxInt32 {
		v.m.fault("%q is no count", v.text[i])
		return 0
	}
	return int64(x)
}

func (v values) string(i int) string {
	if i >= len(v.text) {
		return ""
	}
	return strings.Trim(v.text[i], `"`)
}

// Machine returns the machine file of a configuration of Dimemas, and what it leaves out. The error names all faults by their lines.
func Machine(file, name string, text []byte) (yaml []byte, leftOut []string, err error) {
	m := &machine{file: file, line: 1}
	if !strings.HasPrefix(string(text), configuration) {
		return nil, nil, fmt.Errorf("%s, line 1: a configuration of Dimemas begins with %s", file, configuration)
	}
	rest := string(text)
	for at := 0; ; {
		at += len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		m.line, rest = 1+strings.Count(string(text[:at]), "\n"), string(text[at:])
		end, length := ";;", 2
		if strings.HasPrefix(rest, "#") {
			end, length = "\n", 1
		}
		record, _, ended := strings.Cut(rest, end)
		switch {
		case rest == "":
			yaml = m.yaml(name)
			return yaml, m.leftOut, errors.Join(m.faults...)
		case length == 2:
			m.record(strings.TrimSpace(record), ended)
		}
		at = min(at+len(record)+length, len(text))
		rest = string(text[at:])
	}
}

// record reads a record.
func (m *machine) record(body string, ended bool) {
	parts := recordOf.FindStringSubmatch(body)
	if parts == nil || !ended {
		m.fault("a record is %q, with %q at its end", `"title" {values}`, ";;")
		return
	}
	v := values{m, valueOf.FindAllString(parts[2], -1)}
	least := func(n int) bool {
		if len(v.text) < n {
			m.fault("the record %q has %s, and takes %d", parts[1], spelling.Count(len(v.text), "value"), n)
		}
		return len(v.text) >= n
	}
	switch title := parts[1]; title {
	case "environment information":
		if !least(7) {
			return
		}
		if m.machines++; m.machines > 1 {
			m.fault("a second machine: gigarank simulates one. Give a configuration of one machine")
			return
		}
		m.name, m.number, m.network, m.busses = v.string(0), v.count(3), v.number(4), v.count(5)
		m.leave("the model of collectives %s: gigarank simulates the algorithms of collectives", v.string(6))
	case "multi node information":
		if least(14) {
			m.add(v, v.count(1))
		}
	case "node information":
		if least(14) {
			m.add(v, 1)
		}
	case "predefined mapping information":
		if p := perNode.FindStringSubmatch(v.string(0)); p != nil {
			m.perNode, _ = strconv.ParseInt(p[1], 10, 32)
		} else {
			m.leave("the mapping %q: tasks fill the nodes in their order", v.string(0))
		}
	case "mapping information":
		m.leave("the node of each task: tasks fill the nodes in their order")
	case "wide area network information":
		if v.count(1) > 1 {
			m.leave("the network between machines")
		}
	case "file system parameters", "configuration files":
		for i := range v.text {
			if s := v.string(i); title == "configuration files" && s != "" {
				m.leave("the file %q", s)
			}
		}
		if title == "file system parameters" {
			m.leave("the file system: traces have no files")
		}
	default:
		m.leave("the record %q", title)
	}
}

// add adds nodes.
func (m *machine) add(v values, number int64) {
	n := nodes{line: m.line, number: number, processors: v.count(3), speed: v.number(4), intra: v.number(5), bandwidth: v.number(6), startup: v.number(10), in: v.count(11), out: v.count(12)}
	if n.speed == 0 {
		m.fault("a relative speed of processors of 0")
	}
	if number < 1 || n.processors < 1 {
		m.fault("%s of %s", spelling.Count(number, "node"), spelling.Count(n.processors, "processor"))
	}
	if v.count(7) > 0 && n.processors > 1 {
		m.leave("%s within a node: its messages are not limited", spelling.Count(v.count(7), "bus"))
	}
	if n.processors > 1 && v.count(8)+v.count(9) > 0 {
		m.leave("links within a node: its messages are not limited")
	}
	if len(v.text) > 13 && v.number(13) > 0 {
		m.leave("the startup of %v s between machines", v.number(13))
	}
	if (n.in == 0) != (n.out == 0) {
		m.leave("no links in one direction: they act as 1, as in Dimemas")
		n.in, n.out = max(n.in, 1), max(n.out, 1)
	}
	m.nodes = append(m.nodes, n)
}

// time returns seconds as a time of a machine file, at least a picosecond.
func time(seconds float64) string {
	return fmt.Sprintf("%dps", max(1, int64(math.Round(seconds*1e12))))
}

// rate returns a bandwidth of a machine file.
func rate(mb float64) string {
	if mb == 0 {
		return infinite
	}
	return fmt.Sprintf("%dB/s", max(1, int64(math.Round(mb*(1<<20)))))
}

// yaml returns the machine file, and adds the faults of the machine as a whole.
func (m *machine) yaml(name string) []byte {
	if len(m.nodes) == 0 || m.machines == 0 {
		m.fault("a configuration has the records %q and %q", "environment information", "multi node information")
		return nil
	}
	first, all, perNode := m.nodes[0], int64(0), m.perNode
	for _, n := range m.nodes {
		all += n.number
		if m.line = n.line; n.startup != first.startup || n.in != first.in || n.out != first.out || n.processors != first.processors || n.intra != first.intra || n.bandwidth != first.bandwidth {
			m.fault("nodes that differ from those of line %d in more than the speed of processors: gigarank takes equal networks", first.line)
		}
	}
	if m.number != 0 && m.number != all {
		m.fault("%s, where the environment has %d", spelling.Count(all, "node"), m.number)
	}
	if perNode == 0 {
		perNode = first.processors
	}
	if perNode > first.processors {
		m.leave("%s on %s: each task has a processor of its own", spelling.Count(perNode, "task"), spelling.Count(first.processors, "processor"))
	}
	var b strings.Builder
	p := func(format string, arguments ...any) { fmt.Fprintf(&b, format, arguments...) }
	p("name: %q\n", name)
	if m.name != "" {
		p("description: %q\n", m.name)
	}
	p("source: %q\n", "configuration of Dimemas "+m.file)
	p("nodes: %d\nranks_per_node: %d\n", all, perNode)
	m.speeds(p)
	overhead := ""
	between, within := time(first.startup), time(first.intra)
	if perNode == 1 || first.intra == first.startup { // Dimemas has the sender's processor busy for the startup
		between, within = time(0), time(0)
		if first.startup > 0 {
			overhead = ", overhead: {send: " + time(first.startup) + ", receive: 0ns}"
		}
	} else {
		m.leave("the processor that a startup keeps busy, since it differs within nodes: it is the latency of the message")
	}
	if perNode == 1 {
		p("network: {model: flat, latency: %s, bandwidth: %s%s}\n", between, rate(m.network), overhead)
	} else {
		p("network:\n  model: twolevel\n  intra: {latency: %s, bandwidth: %s}\n  inter: {latency: %s, bandwidth: %s}\n", within, rate(first.bandwidth), between, rate(m.network))
		if overhead != "" {
			p("  %s\n", strings.TrimPrefix(overhead, ", "))
		}
	}
	m.limits(p, first)
	return []byte(b.String())
}

// speeds writes the ratios of CPU times.
func (m *machine) speeds(p func(format string, arguments ...any)) {
	ratio := func(n nodes) string { return strconv.FormatFloat(math.Round(1e6/n.speed)/1e6, 'f', -1, 64) }
	first := m.nodes[0]
	if first.speed != 1 && first.speed > 0 {
		p("cpu_ratio: %s\n", ratio(first))
	}
	at, list := int64(0), []string(nil)
	for _, n := range m.nodes {
		if n.speed != first.speed && n.speed > 0 {
			list = append(list, fmt.Sprintf("{from: %d, to: %d, ratio: %s}", at, at+n.number-1, ratio(n)))
		}
		at += n.number
	}
	if list != nil {
		p("cpu_ratios: [%s]\n", strings.Join(list, ", "))
	}
}

// limits writes the section of contention.
func (m *machine) limits(p func(format string, arguments ...any), n nodes) {
	var list []string
	for _, l := range []struct {
		name  string
		limit int64
	}{{"busses", m.busses}, {"out", n.out}, {"in", n.in}} {
		if l.limit > 0 {
			list = append(list, fmt.Sprintf("%s: %d", l.name, l.limit))
		}
	}
	if list != nil {
		p("contention: {model: links, %s}\n", strings.Join(list, ", "))
	}
}
