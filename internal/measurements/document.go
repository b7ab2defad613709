package measurements

// Document is a comparison for programs. Times are in microseconds.
type Document struct {
	Schema    int         `json:"schema"`
	File      string      `json:"file"`
	Rows      int         `json:"rows"`
	Counted   int         `json:"counted"`
	Groupings []groupings `json:"summaries"`
	Points    []point     `json:"points"`
}

type groupings struct {
	By     string  `json:"by"`
	Groups []group `json:"groups"`
}

type group struct {
	Name          string             `json:"name"`
	Points        int                `json:"points"`
	MedianError   float64            `json:"median_error"`
	LowerQuartile float64            `json:"lower_quartile"`
	Median        float64            `json:"median"`
	UpperQuartile float64            `json:"upper_quartile"`
	Within        map[string]float64 `json:"within"`
	Ninety        float64            `json:"ninety_percent_within"`
	Worst         float64            `json:"worst"`
	WorstLine     int                `json:"worst_line"`
}

type point struct {
	Line      int     `json:"line"`
	Machine   string  `json:"machine"`
	Nodes     int     `json:"nodes"`
	PerNode   int     `json:"ppn"`
	Operation string  `json:"op"`
	Bytes     int64   `json:"bytes"`
	Library   string  `json:"mpi,omitempty"`
	Algorithm string  `json:"algorithm,omitempty"`
	Measured  float64 `json:"measured_us"`
	Model     string  `json:"simulated_machine,omitempty"`
	Digest    string  `json:"machine_digest,omitempty"`
	Chosen    string  `json:"simulated_algorithm,omitempty"`
	Statistic string  `json:"simulated_statistic,omitempty"`
	Simulated float64 `json:"simulated_us,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"`
	Reason    string  `json:"reason_not_counted,omitempty"`
}

// schema is the version of the fields of a document.
const schema = 1

// NewDocument returns the document of a comparison.
func NewDocument(file string, all []Outcome, classes []Class) Document {
	d := Document{Schema: schema, File: file, Rows: len(all)}
	for _, g := range Summarize(all, classes) {
		of := groupings{By: g.Name}
		for _, s := range g.Summaries {
			one := group{Name: s.Group, Points: s.Points, MedianError: s.Error, LowerQuartile: s.Quartiles[0], Median: s.Quartiles[1],
				UpperQuartile: s.Quartiles[2], Within: map[string]float64{}, Ninety: s.Ninety, Worst: s.Worst.Ratio(), WorstLine: s.Worst.Line}
			for i, f := range Factors {
				one.Within[number(f)] = s.Within[i]
			}
			of.Groups = append(of.Groups, one)
		}
		d.Groupings = append(d.Groupings, of)
	}
	for i := range all {
		d.Points = append(d.Points, all[i].document())
		if all[i].Counts() {
			d.Counted++
		}
	}
	return d
}

func (o *Outcome) document() point {
	p := point{Line: o.Line, Machine: o.Machine, Nodes: o.Nodes, PerNode: o.PerNode, Operation: o.Operation, Bytes: o.Bytes,
		Library: o.Library, Algorithm: o.Algorithm, Measured: o.Measured * 1e6, Reason: o.Reason}
	if o.Model != nil {
		p.Model, p.Digest = o.Model.Name(), o.Model.Digest()
	}
	if o.Simulated > 0 {
		p.Chosen, p.Statistic, p.Simulated, p.Ratio = o.Chosen, o.Point.Statistic.String(), o.Simulated*1e6, o.Ratio()
	}
	return p
}
