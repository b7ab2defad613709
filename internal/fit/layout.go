package fit

import (
	"regexp"
	"strconv"
	"strings"
)

// shape is the known part of a layout; 0 stands for unknown.
type shape struct{ nodes, perNode, ranks int }

// The words of jobs that give nodes, ranks a node and ranks. The last words before a table count.
// -N is the number of nodes for srun and of ranks a node for mpirun. A range of nodes, and ranks
// for another part than the node, are ignored.
var (
	nodesWords   = regexp.MustCompile(`(?:--nodes[= ]+|\bSLURM_(?:JOB_NUM_NODES|NNODES)=|\bnodes=)(\d+)(?:[^-\d]|$)`)
	perNodeWords = regexp.MustCompile(`(?:--ntasks-per-node[= ]+|\bSLURM_NTASKS_PER_NODE=|-ppn[= ]+|-perhost[= ]+|-?-npernode[= ]+|\bppn=)(\d+)\b|\bppr:(\d+):node\b`)
	ranksWords   = regexp.MustCompile(`(?:--ntasks[= ]+|\bSLURM_NTASKS=|\s(?:--?np|-n)[= ]*|\branks=)(\d+)\b`)
	shortN       = regexp.MustCompile(`(?:^|\s)-N[= ]*(\d+)(?:[^-\d]|$)`)
	ofSlurm      = regexp.MustCompile(`\b(?:srun|salloc|sbatch)\b|^#SBATCH`)
	ofLauncher   = regexp.MustCompile(`\b(?:mpirun|mpiexec|prun|orterun)\b`)
	ofJob        = regexp.MustCompile(`\b(?:srun|salloc|sbatch|mpirun|mpiexec|prun|orterun)\b|^#SBATCH|\bSLURM_|^# gigarank:`)
)

// read reads the layout in a line of a job. A new launch replaces the layout of an earlier launch.
func (s *shape) read(line string) {
	if !ofJob.MatchString(line) {
		return
	}
	var said shape
	number := func(to *int, pattern *regexp.Regexp) {
		if found := pattern.FindStringSubmatch(line); found != nil {
			*to, _ = strconv.Atoi(strings.Join(found[1:], "")) // one of the two groups is empty
		}
	}
	number(&said.nodes, nodesWords)
	number(&said.perNode, perNodeWords)
	number(&said.ranks, ranksWords)
	switch {
	case ofSlurm.MatchString(line):
		number(&said.nodes, shortN)
	case ofLauncher.MatchString(line):
		number(&said.perNode, shortN)
	}
	if said == (shape{}) {
		return
	}
	if ofLauncher.MatchString(line) || strings.Contains(line, "srun") || strings.HasPrefix(line, "# gigarank:") {
		if said.known() {
			*s = shape{}
		}
	}
	if said.ranks > 0 && (said.nodes > 0) != (said.perNode > 0) {
		s.nodes, s.perNode = 0, 0 // two of the three numbers give the third
	}
	for _, f := range []struct{ to, from *int }{{&s.nodes, &said.nodes}, {&s.perNode, &said.perNode}, {&s.ranks, &said.ranks}} {
		if *f.from > 0 {
			*f.to = *f.from
		}
	}
	if said.nodes > 0 && said.perNode > 0 && said.ranks == 0 {
		s.ranks = 0
	}
}

// known reports whether the shape gives a layout by itself.
func (s shape) known() bool { _, known := s.layout(); return known }

// layout returns the layout, if it follows from the known part.
func (s shape) layout() (l Layout, known bool) {
	switch {
	case s.nodes > 0 && s.ranks > 0 && s.ranks%s.nodes == 0:
		l = Layout{s.nodes, s.ranks / s.nodes}
		return l, s.perNode == 0 || s.perNode == l.PerNode || s.ranks < s.nodes*s.perNode
	case s.nodes > 0 && s.perNode > 0 && s.ranks == 0:
		return Layout{s.nodes, s.perNode}, true
	case s.perNode > 0 && s.ranks > 0 && s.nodes == 0:
		if s.ranks <= s.perNode {
			return Layout{1, s.ranks}, true
		}
		return Layout{s.ranks / s.perNode, s.perNode}, s.ranks%s.perNode == 0
	}
	return Layout{}, false
}
