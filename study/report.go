package study

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	stdsync "sync"

	"gigarank/collectives"
	"gigarank/internal/spelling"
)

// Origin records how a study was made.
type Origin struct {
	Command string // the command line
	Version string // of gigarank
	Written string // when the report was written
	Host    string // on which the simulations ran
}

//go:embed report.html.tmpl
var reportText string

//go:embed report.css
var reportStyle string

//go:embed report.js
var reportScript string

// reportTemplate is parsed at its first use: each run of gigarank would pay for it.
var reportTemplate = stdsync.OnceValue(parseReport)

func parseReport() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"script": func() template.JS { return template.JS(reportScript) },
		"on":     func(chart any, g *page) onPage { return onPage{chart, g} },
	}).Parse(reportText))
}

// onPage is a chart or exits with its page, which has the sizes of all charts.
type onPage struct {
	Chart any
	Page  *page
}

// page holds the fields of the report's template.
type page struct {
	Origin
	Style        template.CSS
	Title        string
	Subtitle     string
	Missing      string // of a study that was ended
	Stopped      string // why a run failed, in several lines
	Findings     []string
	Sections     []section
	Tables       []tableOf // of a plain report, before that of all points
	Grids        []grid
	Fastest      string   // the heading of Grids
	Crossovers   *tableOf // nil if there are none
	Before       string   // the section that Crossovers follows
	Columns      []string
	Rows         [][]string
	Agreement    string   // of simulations and closed forms
	Failures     []string // the first of them
	MoreFailures string
	LeftOut      string // as too slow
	TooLarge     string // for the memory
	Killed       string // twice while they were simulated
	Machines     []machineText
	Width        float64 // of charts
	Height       float64
	PlotLeft     float64
	PlotRight    float64
	Top          float64
	Bottom       float64
	Free         string // machines on which messages cost no processor anything
	Seeds        string // how seeds are summed up
	TableTitle   string // of a plain report, whose remarks are Reading
	Reading      []string
	Uneven       bool // ranks compute for different times
	Program      bool // in place of an operation
}

// section is a row of charts under a heading.
type section struct {
	Name, Title, Text string
	Charts            []*chart
	Exits             []*exits
	Shares            []*shares
	Stacks            []*stacks
	Maps              []*heatMap
	Tables            []tableOf
}

// tableOf are rows under a heading and names of columns.
type tableOf struct {
	Name, Title string
	Columns     []string
	Rows        [][]string
}

type machineText struct{ Name, YAML string }

// WriteReport writes the report of a study: one page of HTML that needs no other file
// and no network. The records may cover only a part of the plan.
func (p *Plan) WriteReport(w io.Writer, records []Record, origin Origin) error {
	all := p.samples(records)
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title:    fmt.Sprintf("%s: how it scales", p.Subject()),
		Subtitle: p.extent(),
		Findings: p.findings(all),
		Grids:    p.grids(all), Fastest: fmt.Sprintf("Fastest %s by ranks and payload", p.noun()), Crossovers: p.crossoverTable(all), Agreement: agreement(records),
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	tooLarge, killed := without(p.TooLarge, records), without(p.Killed, records)
	if missing := len(p.Points) - len(records) - len(tooLarge) - len(killed); missing > 0 {
		g.Missing = fmt.Sprintf("%d of %s are not simulated yet: the same command with --resume simulates them.", missing, spelling.Count(len(p.Points), "point"))
	}
	if len(tooLarge) > 0 {
		g.TooLarge = Ranges(tooLarge)
	}
	if len(killed) > 0 {
		g.Killed = Ranges(killed)
	}
	if len(p.LeftOut) > 0 {
		g.LeftOut = Ranges(p.LeftOut)
	}
	g.Sections = p.sections(all)
	for i, s := range g.Sections {
		if i == 0 || s.Name == "payload" {
			g.Before = s.Name
		}
	}
	g.Uneven = p.Operation == collectives.Allreduce && len(p.Points) > 0 && p.Points[0].Compute > 0
	g.Program = p.Program != nil
	g.tabulate(p, records)
	for _, m := range p.Machines {
		g.Machines = append(g.Machines, machineText{p.describeMachine(m), m.String()})
	}
	g.Free = p.free()
	if slices.ContainsFunc(all, func(s sample) bool { return s.random }) {
		g.Seeds = aboutSeeds
	}
	return writePage(w, reportTemplate(), g)
}

// writePage writes a page without the control characters that names may hold.
func writePage(w io.Writer, page *template.Template, content any) error {
	var text bytes.Buffer
	if err := page.Execute(&text, content); err != nil {
		return err
	}
	_, err := w.Write(Printable(text.Bytes()))
	return err
}

// aboutSeeds explains the use of several seeds.
var aboutSeeds = fmt.Sprintf("Where times depend on the seed, the time is the median over the seeds. From %d seeds on an interval is given that holds "+
	"the median with a confidence of %.0f %%, whatever the distribution: the k-th least and the k-th greatest time, by the binomial distribution. "+
	"An algorithm is said to be faster than another, and a crossover to be one, only where the intervals are apart by more than 1 %%.", leastSeeds, confidence*100)

// free returns the names of the machines on which messages cost no processor anything.
func (p *Plan) free() string {
	var names []string
	for _, m := range p.Machines {
		target, err := m.Target(1)
		if err == nil && !target.Charges() && !slices.Contains(names, m.Name()) {
			names = append(names, m.Name())
		}
	}
	return strings.Join(names, ", ")
}

// without returns the points that have no record.
func without(points []Point, records []Record) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(point Point) bool {
		return slices.ContainsFunc(records, func(r Record) bool { return r.Point == point })
	})
}

// extent returns a line on the axes of the study.
func (p *Plan) extent() string {
	parts := []string{span64(p.Ranks, formatRanks) + " ranks"}
	if p.Payloads[0] > 0 || len(p.Payloads) > 1 {
		parts = append(parts, span64(p.Payloads, func(n int64) string { return formatBytes(float64(n)) }))
	}
	var machines []string
	for _, m := range p.Machines {
		if !slices.Contains(machines, m.Name()) {
			machines = append(machines, m.Name())
		}
	}
	parts = append(parts, strings.Join(machines, ", "))
	if n := len(p.variations); n > 1 {
		parts = append(parts, spelling.Count(n, "combination")+" of arguments")
	}
	if n := len(p.Noises) - 1; n > 0 {
		parts = append(parts, spelling.Count(n, "kind")+" of noise")
	}
	return strings.Join(append(parts, spelling.Count(len(p.Points), "simulation")), " · ")
}

func span64(values []int64, text func(int64) string) string {
	first, last := text(values[0]), text(values[len(values)-1])
	if first == last {
		return first
	}
	return first + " to " + last
}

// sections returns the sections that have a chart.
func (p *Plan) sections(all []sample) []section {
	list := []section{
		{Name: "ranks", Title: "Time against ranks", Charts: p.againstRanks(all)},
		{Name: "speedup", Title: "Speed-up and efficiency", Text: p.aboutSpeedUp(), Charts: p.speedUpCharts(all)},
		{Name: "causes", Title: "Where the time goes", Text: aboutCauses, Shares: p.shareCharts(all)},
		{Name: "energy", Title: "Energy", Text: aboutEnergy, Charts: p.energyCharts(all)},
		{Name: "phases", Title: "Phases", Text: aboutPhases, Charts: p.phaseCharts(all)},
		{Name: "payload", Title: "Time against payload", Charts: p.againstPayload(all)},
		{Name: "bandwidth", Title: "Bus bandwidth", Text: aboutBusBandwidth, Charts: p.bandwidthCharts(all)},
		{Name: "arguments", Title: "Arguments of the program", Charts: p.argumentCharts(all)},
		{Name: "noise", Title: "Cost under noise", Text: "What an iteration costs beyond its compute time, with and without operating system noise. " +
			"The more ranks wait for each other, the likelier one of them is interrupted: the cost grows with the ranks until nearly every " +
			"iteration waits for a longest interruption (Petrini, Kerbyson and Pakin, SC 2003; Hoefler, Schneider and Lumsdaine, SC 2010).",
			Charts: p.noiseCharts(all)},
		{Name: "machines", Title: "Machines and mappings", Charts: p.machineCharts(all)},
		{Name: "exits", Title: "Distribution of exit times", Text: "When the ranks " + p.exit() + ", counted from the first of them; where there are several seeds, with the first. Each chart has axes of its own: exits spread over far longer with some algorithms than with others.", Exits: p.exitCharts(all)},
		{Name: "cost", Title: "Cost of the simulation", Text: "What the simulations took on the host. With few ranks the memory is that of the process itself.", Charts: p.hostCharts(all)},
	}
	for i := range list {
		list[i].Charts = aligned(list[i].Charts)
	}
	return slices.DeleteFunc(list, func(s section) bool { return len(s.Charts)+len(s.Exits)+len(s.Shares) == 0 })
}

// tabulate fills in the table, in the order of the axes, with the axes that vary.
func (g *page) tabulate(p *Plan, records []Record) {
	columns := p.tableColumns()
	failed := 0
	for _, c := range columns {
		g.Columns = append(g.Columns, c.name)
	}
	for _, r := range p.inOrderOfAxes(records) {
		if r.Error != "" {
			if failed++; failed > mostFailures {
				continue
			}
			first, _, _ := strings.Cut(r.Error, "\n")
			g.Failures = append(g.Failures, fmt.Sprintf("%s, %s ranks, %s: %s", r.Point.Choice(), formatRanks(r.Point.Ranks),
				p.describe(p.settingOf(r.Point)), first))
			continue
		}
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.value(r)
		}
		g.Rows = append(g.Rows, row)
	}
	if failed > mostFailures {
		g.MoreFailures = fmt.Sprintf("And %s more; see %s.", spelling.Count(failed-mostFailures, "point"), ResultsFile)
	}
}

// mostFailures bounds the failed points that a report names.
const mostFailures = 5

type tableColumn struct {
	name  string
	value func(Record) string
}

func (p *Plan) tableColumns() []tableColumn {
	columns := []tableColumn{}
	add := func(shown bool, name string, value func(Record) string) {
		if shown {
			columns = append(columns, tableColumn{name, value})
		}
	}
	add(true, "ranks", func(r Record) string { return thousands(r.Point.Ranks) })
	libraries := slices.ContainsFunc(p.choices, func(c choice) bool { return c.library != "" })
	add(p.Program == nil || len(p.Choices) > 1, p.noun(), func(r Record) string { return r.Point.Choice() })
	add(libraries && p.Program == nil, "chosen", func(r Record) string { return r.Chosen })
	add(len(p.variations) > 1, "arguments", func(r Record) string { return r.Point.Varied })
	add(len(p.Payloads) > 1, "payload", func(r Record) string { return formatBytes(float64(r.Point.Payload)) })
	add(len(p.Machines) > 1, "machine", func(r Record) string { return p.describeMachine(p.Machine(r.Point)) })
	add(len(p.Noises) > 1, "noise", func(r Record) string { return r.Point.Noise })
	add(len(p.Seeds) > 1, "seed", func(r Record) string { return strconv.FormatUint(r.Point.Seed, 10) })
	add(true, "time", func(r Record) string { return formatTime(float64(r.Time)) })
	add(p.hasEnergy(), "energy", func(r Record) string {
		if r.Result.Energy == nil {
			return "–"
		}
		return Joules(r.Result.Energy.Joules)
	})
	add(busBandwidth(p.Operation, 2, 1, 1) > 0, "bus bandwidth", func(r Record) string {
		if v := r.busBandwidth(); v > 0 {
			return formatBandwidth(v)
		}
		return "–"
	})
	add(p.Program == nil, "closed form", func(r Record) string {
		if r.ClosedForm == 0 {
			return "–"
		}
		return formatTime(float64(r.ClosedForm))
	})
	add(p.Program == nil, "ratio", func(r Record) string {
		if r.ClosedForm == 0 {
			return "–"
		}
		return r.ratio()
	})
	timed := p.Program == nil || p.Entry.Defaults.Iterations > 0
	add(timed, "least of a rank", func(r Record) string { return formatTime(float64(summary(r.Result.Iterations).Min)) })
	add(timed, "mean of ranks", func(r Record) string { return formatTime(float64(summary(r.Result.Iterations).Mean)) })
	add(timed, "longest of a rank", func(r Record) string { return formatTime(float64(summary(r.Result.Iterations).Max)) })
	add(true, "wall time", func(r Record) string { return formatWall(r.Result.Wall) })
	add(true, "memory per rank", func(r Record) string { return formatBytes(r.Result.BytesPerRank) })
	return columns
}

// thousands prints a number with its digits in groups of three.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// inOrderOfAxes sorts records as the axes list their values.
func (p *Plan) inOrderOfAxes(records []Record) []Record {
	place := map[Point]int{}
	for _, s := range p.settings() {
		for _, ranks := range p.Ranks {
			for _, a := range p.Choices {
				for _, seed := range p.Seeds {
					place[Point{MachineDigest: s.digest, Noise: s.noise, Varied: s.varied, Payload: s.payload, Ranks: ranks, Algorithm: a, Seed: seed}] = len(place)
				}
			}
		}
	}
	at := func(r Record) int {
		q := r.Point
		return place[Point{MachineDigest: q.MachineDigest, Noise: q.Noise, Varied: q.Varied, Payload: q.Payload, Ranks: q.Ranks, Algorithm: q.Choice(), Seed: q.Seed}]
	}
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b Record) int { return at(a) - at(b) })
	return sorted
}
