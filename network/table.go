package network

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// table is the measured delay of messages by size, within a node and between two nodes.
type table struct{ intra, inter []measurement }

// measurement is the measured delay of a message of size bytes.
type measurement struct {
	size  int64
	delay vtime.Duration
}

var tableKind = modelKind{
	name:      "table",
	summary:   "measured delays by size, within a node and between nodes",
	fields:    []string{"intra", "inter"},
	charged:   true,
	symmetric: true,
	examples: []string{
		"{intra: [{size: 0, delay: 0}, {size: 100, delay: 1us}, {size: 1KiB, delay: 1.3us}], inter: [{size: 8, delay: 3us}, {size: 300, delay: 4us}]}",
		"{intra: [{size: 8, delay: 300ns}], inter: [{size: 0, delay: 2us}, {size: 1MiB, delay: 90us}]}",
	},
	parse: func(o *object) model { return &table{parseTable(o, "intra"), parseTable(o, "inter")} },
}

func parseTable(o *object, key string) []measurement {
	var rows []measurement
	for _, row := range o.objects(key, "write a list such as [{size: 0, delay: 1us}, {size: 1MiB, delay: 500us}]") {
		faults := len(o.doc.Faults)
		next := measurement{row.size("size", true, 0), row.duration("delay", true, 0)}
		row.close("", nil)
		if row == nil || len(o.doc.Faults) > faults {
			continue
		}
		if last := len(rows) - 1; last >= 0 {
			switch {
			case next.size <= rows[last].size:
				row.fault("size", "is not larger than the one before", "sort the list by size, each size once")
			case next.delay < rows[last].delay:
				row.fault("delay", "is less than that of a smaller message", "smooth the measurements, so that more bytes never arrive sooner")
			}
		}
		rows = append(rows, next)
	}
	return rows
}

func (m *table) kind() *modelKind { return &tableKind }

func (m *table) write(o *objectWriter) {
	writeTable(o, "intra", m.intra)
	writeTable(o, "inter", m.inter)
}

func writeTable(o *objectWriter, key string, rows []measurement) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i, row := range rows {
		inner := o.object(fmt.Sprintf("%s[%d]", o.within(key), i))
		inner.text("size", quantity.FormatSize(row.size))
		inner.text("delay", row.delay.String())
		list.Content = append(list.Content, inner.node)
	}
	o.put(key, list)
}

func (m *table) over(p placement) delays {
	return pathsByNode(p, measuredPath(m.intra), measuredPath(m.inter))
}
