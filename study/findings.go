package study

import (
	"fmt"
	"strings"
)

// mostFindings bounds the sentences at the head of a report.
const mostFindings = 8

// findings says in sentences what the samples show: which algorithm is fastest at
// which ranks, and what noise costs.
func (p *Plan) findings(all []sample) []string {
	var sentences []string
	for _, s := range p.settings() {
		if len(p.Payloads) > 2 && s.payload != p.Payloads[0] && s.payload != p.Payloads[len(p.Payloads)-1] {
			continue
		}
		if text := p.fastestByRanks(s, where(all, s.has)); text != "" {
			sentences = append(sentences, text)
		}
	}
	sentences = append(p.costOfNoise(all), sentences...)
	return sentences[:min(len(sentences), mostFindings)]
}

// fastestByRanks tells the fastest algorithm of each stretch of ranks.
func (p *Plan) fastestByRanks(s setting, here []sample) string {
	if len(here) == 0 {
		return ""
	}
	var parts []string
	before := ""
	var last sample
	for _, ranks := range p.Ranks {
		at := where(here, func(q Point) bool { return q.Ranks == ranks })
		if len(at) == 0 {
			continue
		}
		last = fastest(at)
		if name := last.point.Algorithm; name != before {
			part := name
			if before != "" {
				part = fmt.Sprintf("%s from %s ranks on", name, formatRanks(ranks))
			}
			parts = append(parts, part)
			before = name
		}
	}
	text := fmt.Sprintf("%s takes %s at %s ranks", last.point.Algorithm, micro(formatTime(last.time)), formatRanks(last.point.Ranks))
	if len(p.Algorithms) == 1 {
		return fmt.Sprintf("On %s: %s.", p.describe(s), text)
	}
	return fmt.Sprintf("On %s the fastest that was simulated is %s; %s.", p.describe(s), strings.Join(parts, ", "), text)
}

// costOfNoise compares each noise with none, for the algorithm that is fastest
// without, at the most ranks on the first machine.
func (p *Plan) costOfNoise(all []sample) []string {
	most, payload := p.Ranks[len(p.Ranks)-1], p.Payloads[0]
	at := func(noise string) []sample {
		s := p.setting(p.Machines[0], noise, payload)
		return where(all, func(q Point) bool { return s.has(q) && q.Ranks == most })
	}
	quiet := at(NoNoise)
	if len(quiet) == 0 {
		return nil
	}
	best := fastest(quiet)
	var sentences []string
	for _, noise := range p.Noises[1:] {
		for _, s := range at(noise) {
			if s.point.Algorithm == best.point.Algorithm {
				sentences = append(sentences, fmt.Sprintf("Under %s an iteration with %s at %s ranks costs %s beyond its compute time of %s; %s without noise.",
					describeNoise(noise), s.point.Algorithm, formatRanks(most), micro(formatTime(s.time)),
					micro(formatTime(float64(s.point.Compute))), micro(formatTime(best.time))))
			}
		}
	}
	return sentences
}
