package study

import (
	"fmt"
	"slices"
	"strings"

	"gigarank/internal/spelling"
)

// mostFindings bounds the sentences at the head of a report.
const mostFindings = 8

// findings returns sentences on the findings in the samples: the fastest algorithm at each
// number of ranks, and the cost of noise.
func (p *Plan) findings(all []sample) []string {
	var sentences []string
	all = p.compared(all)
	for _, s := range p.settings() {
		if len(p.Payloads) > 2 && s.payload != p.Payloads[0] && s.payload != p.Payloads[len(p.Payloads)-1] {
			continue
		}
		if text := p.fastestByRanks(s, where(all, s.has)); text != "" {
			sentences = append(sentences, text)
		}
	}
	sentences = append(p.costOfNoise(all), sentences...)
	return append(sentences[:min(len(sentences), mostFindings)], p.fewSeeds(all)...)
}

// fewSeeds returns a sentence if times depend on the seed and there are too few seeds
// to compare algorithms, in the plan or among the results.
func (p *Plan) fewSeeds(all []sample) []string {
	quiet, seeds := false, leastSeeds
	var fewest sample
	for _, s := range all {
		quiet = quiet || !s.random
		if s.vague() && len(s.records) < seeds {
			seeds, fewest = len(s.records), s
		}
	}
	if len(p.Choices) == 1 || seeds == leastSeeds {
		return nil
	}
	begin := "Times depend on the seed"
	if quiet {
		begin = "Under noise, times depend on the seed"
	}
	if len(p.Seeds) >= leastSeeds {
		q := fewest.point
		return []string{fmt.Sprintf("%s, and on %s, %s has results of only %d of %d seeds at %s ranks: %d or more are needed to say which %s is the fastest.",
			begin, p.describe(p.settingOf(q)), q.Choice(), seeds, len(p.Seeds), formatRanks(q.Ranks), leastSeeds, p.noun())}
	}
	return []string{fmt.Sprintf("%s, and %s too few to say which %s is the fastest: give %d or more by --seed.",
		begin, Are(seeds, "seed"), p.noun(), leastSeeds)}
}

// stretch is a range of ranks or payloads over which the same choices may be the fastest.
type stretch struct {
	from, to int64
	names    []string // each may be the fastest throughout
	cut      bool     // one of them was not simulated at the next value
}

// stretches divides the values of an axis into as few stretches as the samples allow. A new one
// begins only where none of the choices that may have been fastest so far can still be.
func (p *Plan) stretches(here []sample, values []int64, key func(Point) int64) []stretch {
	var all []stretch
	for _, value := range values {
		at := where(here, func(q Point) bool { return key(q) == value })
		if len(at) == 0 {
			continue
		}
		tied := rank(at).tied
		if len(all) > 0 {
			last := &all[len(all)-1]
			common := slices.DeleteFunc(slices.Clone(last.names), func(name string) bool { return !slices.Contains(tied, name) })
			if len(common) > 0 {
				last.to, last.names = value, common
				continue
			}
			present := p.present(at)
			last.cut = slices.ContainsFunc(last.names, func(name string) bool { return !slices.Contains(present, name) })
		}
		all = append(all, stretch{from: value, to: value, names: tied})
	}
	return all
}

func (s stretch) String() string {
	ranks := fmt.Sprintf("from %s to %s ranks", formatRanks(s.from), formatRanks(s.to))
	if s.from == s.to {
		ranks = fmt.Sprintf("at %s ranks", formatRanks(s.from))
	}
	if s.cut {
		ranks += " (not simulated with more)"
	}
	return listed(s.names) + " " + ranks
}

// listed joins names: "a", "a and b alike".
func listed(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " alike"
}

// fastestByRanks returns a sentence with the fastest algorithm of each stretch of ranks
// and its margin at the most ranks. It returns "" where there are too few seeds for
// that.
func (p *Plan) fastestByRanks(s setting, here []sample) string {
	stretches := p.stretches(here, p.Ranks, byRanks)
	if len(stretches) == 0 {
		return ""
	}
	most := stretches[len(stretches)-1].to
	end := rank(where(here, func(q Point) bool { return q.Ranks == most }))
	text := fmt.Sprintf("at %s ranks %s takes %s", formatRanks(most), end.best.point.Choice(), describeTime(end.best))
	if len(end.next.records) > 0 {
		text += fmt.Sprintf("; %s, the next, %s (%s)", end.next.point.Choice(), describeTime(end.next), end.margin())
	}
	switch {
	case p.alone():
		return fmt.Sprintf("On %s: %s.", p.describe(s), p.scalingOf(curveOf(here, s, p.Choices[0])))
	case len(p.present(here)) == 1:
		return fmt.Sprintf("On %s: %s.", p.describe(s), text)
	case slices.ContainsFunc(here, sample.vague):
		return ""
	}
	parts := stretches[0].String()
	for i, next := range stretches[1:] {
		if stretches[i].cut {
			parts += ", then of the others " + next.String()
		} else {
			parts += ", then " + next.String()
		}
	}
	return fmt.Sprintf("On %s, the fastest of those simulated: %s; %s.", p.describe(s), parts, text)
}

// Are prints a count with a noun and its verb: "1 seed is", "2 seeds are".
func Are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return spelling.Count(n, noun) + " are"
}

// describeTime prints the time of a sample, with its interval if it depends on the
// seed.
func describeTime(s sample) string {
	text := formatTime(s.time)
	low, high := formatTime(s.low), formatTime(s.high)
	switch n := len(s.records); {
	case !s.random || n == 1 || low == high:
		return text
	case n < leastSeeds:
		return fmt.Sprintf("%s (%s to %s over %d seeds)", text, low, high, n)
	}
	return fmt.Sprintf("%s (%.0f\u00a0%%: %s to %s)", text, confidence*100, low, high)
}

// costOfNoise compares each noise with none, for the algorithm that is fastest without
// noise, at the most ranks on the first machine.
func (p *Plan) costOfNoise(all []sample) []string {
	most, payload := p.Ranks[len(p.Ranks)-1], p.Payloads[0]
	at := func(noise string) []sample {
		s := p.setting(p.Machines[0], noise, p.variations[0].name, payload)
		return where(all, func(q Point) bool { return s.has(q) && q.Ranks == most })
	}
	quiet := at(NoNoise)
	if len(quiet) == 0 {
		return nil
	}
	best := rank(quiet).best
	var sentences []string
	for _, noise := range p.Noises[1:] {
		for _, s := range at(noise) {
			if s.point.Choice() == best.point.Choice() {
				sentences = append(sentences, fmt.Sprintf("Under %s an iteration with %s at %s ranks costs %s beyond its compute time of %s; %s without noise.",
					describeNoise(noise), s.point.Choice(), formatRanks(most), describeTime(s),
					formatTime(float64(s.point.Compute)), describeTime(best)))
			}
		}
	}
	return sentences
}
