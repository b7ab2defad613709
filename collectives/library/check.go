package library

import (
	"fmt"
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/internal/spelling"
)

// check reports a hole, rows that no call reaches, and algorithms that do not suit the calls that reach
// them.
func (o *operation) check(d *document, op collectives.Operation, path string) {
	last := &o.rows[len(o.rows)-1]
	if !last.Unconditional() {
		d.Fault(last.line, fmt.Sprintf("%s.rows[%d]", path, len(o.rows)-1), "the last row has conditions: "+o.hole(op)+" fits no row",
			"remove the conditions of the last row, or add a row without conditions")
	}
	reached := make([]bool, len(o.rows))
	reported := map[string]bool{}
	for _, q := range o.calls(op) {
		i := o.row(&q)
		r := &o.rows[i]
		if !r.fits(&q) {
			continue // a hole
		}
		reached[i] = true
		for k := range r.Choices {
			for _, a := range o.mayRun(&r.Choices[k]) {
				what, remedy := o.unsuited(a, &q)
				if key := fmt.Sprint(r.Choices[k].line, i, a, what); what != "" && !reported[key] {
					reported[key] = true
					d.Fault(r.Choices[k].line, fmt.Sprintf("%s.rows[%d]", path, i), what, remedy)
				}
			}
		}
	}
	for i, r := range o.rows {
		if !reached[i] {
			d.Fault(r.line, fmt.Sprintf("%s.rows[%d]", path, i), "no call reaches the row: the rows before it decide all its calls", "remove it, or move it up")
		}
	}
}

// bindFallbacks gives each choice the fallback of its algorithm.
func (o *operation) bindFallbacks(d *document, path string) {
	for i := range o.rows {
		for k := range o.rows[i].Choices {
			c := &o.rows[i].Choices[k]
			c.fallback = o.fallbackOf(c.Algorithm)
		}
	}
	for _, f := range o.fallbacks {
		if o.fallbackOf(f.Else) >= 0 {
			d.Fault(f.line, path+".fallbacks."+f.Algorithm.String(), fmt.Sprintf("%s has a fallback itself", f.Else), "name the algorithm that runs in the end")
		}
	}
}

func (o *operation) fallbackOf(a collectives.Algorithm) int {
	return slices.IndexFunc(o.fallbacks, func(f Fallback) bool { return f.Algorithm == a.Base() })
}

// mayRun returns the algorithms that may run for a choice.
func (o *operation) mayRun(c *Choice) []collectives.Algorithm {
	if c.fallback < 0 {
		return []collectives.Algorithm{c.Algorithm}
	}
	return []collectives.Algorithm{c.Algorithm, o.fallbacks[c.fallback].Else}
}

func (r *Row) fits(q *collectives.Question) bool {
	return r.Ranks.Has(q.Ranks) && r.fitsLayout(q) && r.PowerOfTwo.Allows(isPowerOfTwo(q.Ranks)) && r.Commutative.Allows(q.Commutative)
}

// hole returns a call that fits no row, in words.
func (o *operation) hole(op collectives.Operation) string {
	for _, q := range o.calls(op) {
		if !slices.ContainsFunc(o.rows, func(r Row) bool { return r.fits(&q) }) {
			words := []string{fmt.Sprintf("a call of %s, %d on a node", spelling.Count(q.Ranks, "rank"), q.PerNode)}
			if !q.Commutative {
				words = append(words, "with an operation that does not commute")
			}
			return strings.Join(words, ", ")
		}
	}
	return "such a call"
}

// calls returns calls at all corners of the rows' conditions: if a row is the first that fits some
// call, it is the first that fits one of these.
func (o *operation) calls(op collectives.Operation) []collectives.Question {
	ranks, perNode, nodes := []int{1, 2, 3}, []int{1, 2}, []int{1, 2}
	for _, r := range o.rows {
		ranks, perNode, nodes = r.Ranks.corners(ranks), r.PerNode.corners(perNode), r.Nodes.corners(nodes)
	}
	perNode, nodes = tidy(perNode), tidy(nodes)
	for _, n := range nodes {
		for _, p := range perNode {
			if n < mostRanks/p {
				ranks = append(ranks, n*p, (n-1)*p+1)
			}
		}
	}
	for _, n := range slices.Clone(ranks) {
		// The nearest power of two above, and numbers beside it, have the other properties.
		above := 1
		for above < n {
			above *= 2
		}
		ranks = append(ranks, above, above+1, n+1, n+2)
	}
	var calls []collectives.Question
	for _, n := range tidy(ranks) {
		layouts := slices.Clone(perNode)
		for _, k := range nodes {
			layouts = append(layouts, (n+k-1)/k)
		}
		for _, p := range tidy(layouts) {
			for _, commutative := range []bool{true, false} {
				if p <= n && (commutative || combines(op)) {
					calls = append(calls, collectives.Question{Operation: op, Ranks: n, PerNode: p, Commutative: commutative})
				}
			}
		}
	}
	return calls
}

// corners appends the ends of the range and the numbers beyond them.
func (r Range) corners(to []int) []int {
	if r.All() {
		return to
	}
	to = append(to, r.Least-1, r.Least)
	if r.Most < unlimited {
		to = append(to, r.Most, r.Most+1)
	}
	return to
}

// tidy sorts numbers, each once, without those below 1.
func tidy(numbers []int) []int {
	numbers = slices.DeleteFunc(numbers, func(n int) bool { return n < 1 })
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// combines reports whether an operation combines vectors.
func combines(op collectives.Operation) bool {
	switch op {
	case collectives.Reduce, collectives.Allreduce, collectives.ReduceScatter, collectives.Scan, collectives.Exscan:
		return true
	}
	return false
}

// hardwareOf returns the word for the hardware that an algorithm needs.
func hardwareOf(a collectives.Algorithm) string {
	if a.AlongTorus() {
		return "torus"
	}
	return a.Base().String()
}

// unsuited returns why an algorithm does not suit a call, or "".
func (o *operation) unsuited(a collectives.Algorithm, q *collectives.Question) (what, remedy string) {
	if !q.Commutative && !collectives.Ordered(q.Operation, a) {
		return fmt.Sprintf("%s does not keep the rank order, and the row decides calls whose operation does not commute", a),
			"put a row with commutative: false before it"
	}
	if slices.Contains(collectives.Algorithms(q.Operation), a.Base()) {
		return "", ""
	}
	if k := o.fallbackOf(a); k >= 0 && (o.fallbacks[k].need == offload || o.fallbacks[k].need == givenTime || o.fallbacks[k].need == torusLinks) {
		return "", ""
	}
	return fmt.Sprintf("%s needs hardware that some machines do not have", a),
		fmt.Sprintf("write what other machines run, such as fallbacks: {%s: {machine: %s, else: linear}}", a.Base(), hardwareOf(a))
}
