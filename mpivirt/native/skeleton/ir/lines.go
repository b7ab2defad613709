package ir

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Position is a place in the source of a program.
type Position struct {
	File   string
	Line   int // 0 if the compiler gives none
	Column int
	Caller *Position // where the function of this place has been inlined, nil if it has not
}

// String returns the place as file:line, with the places to which it has been inlined.
func (p *Position) String() string {
	text := fmt.Sprintf("%s:%d", p.File, p.Line)
	for c := p.Caller; c != nil; c = c.Caller {
		text += fmt.Sprintf(", inlined in %s:%d", c.File, c.Line)
	}
	return text
}

// Position returns the place of an instruction, nil if the module has none. Instructions of one place share it.
func (m *Module) Position(i *Instr) *Position {
	for _, n := range i.Notes {
		if n.Name != "dbg" {
			continue
		}
		p, known := m.places[n.Node]
		if !known {
			p = m.location(n.Node, 0)
			m.places[n.Node] = p
		}
		return p
	}
	return nil
}

// location returns the place that a node DILocation describes.
func (m *Module) location(node string, depth int) *Position {
	fields := m.fields(node, "DILocation")
	if fields == nil || depth > deepest {
		return nil
	}
	p := &Position{File: m.fileOf(fields["scope"])}
	p.Line, _ = strconv.Atoi(fields["line"])
	p.Column, _ = strconv.Atoi(fields["column"])
	if at := fields["inlinedAt"]; at != "" {
		p.Caller = m.location(strings.TrimPrefix(at, "!"), depth+1)
	}
	return p
}

// fileOf returns the file of a scope: of the nearest one that names a file.
func (m *Module) fileOf(scope string) string {
	var file map[string]string
	for range deepest {
		fields := m.fields(strings.TrimPrefix(scope, "!"), "")
		if file == nil {
			if f := m.fields(strings.TrimPrefix(fields["file"], "!"), "DIFile"); unquoted(f["filename"]) != "" {
				file = f
			}
		}
		if unit := fields["unit"]; file != nil && unit != "" {
			return m.whole(file, unit)
		}
		scope = fields["scope"]
	}
	if file == nil {
		return ""
	}
	return path.Clean(unquoted(file["filename"]))
}

// whole returns the path of a file, from the directory of the compilation where it lies in there, else from the root. That directory is the one of the file
// of its unit: clang cuts the directory that an absolute path has in common with it, and flang gives each file its own.
func (m *Module) whole(file map[string]string, unit string) string {
	name, directory := unquoted(file["filename"]), unquoted(file["directory"])
	compiled := unquoted(m.fields(strings.TrimPrefix(m.fields(strings.TrimPrefix(unit, "!"), "DICompileUnit")["file"], "!"), "DIFile")["directory"])
	if path.IsAbs(name) || directory == "" || directory == compiled {
		return path.Clean(name)
	}
	whole := path.Join(directory, name)
	if within, is := strings.CutPrefix(whole, strings.TrimSuffix(compiled, "/")+"/"); is && compiled != "" {
		return within
	}
	return whole
}

// Function returns the place of a function's definition, nil if the module has none.
func (m *Module) Function(f *Function) *Position {
	_, node, _ := strings.Cut(f.Suffix, "!dbg !")
	node = node[:nameLength(node)]
	fields := m.fields(node, "DISubprogram")
	if fields == nil {
		return nil
	}
	p := &Position{File: m.fileOf(node)}
	p.Line, _ = strconv.Atoi(fields["line"])
	return p
}

// fields returns the fields of a node of a kind, of any kind for "". It returns nil for another node.
func (m *Module) fields(node, kind string) map[string]string {
	text := strings.TrimPrefix(m.nodes[node], "distinct ")
	name, list, is := strings.Cut(text, "(")
	if !is || !strings.HasPrefix(name, "!DI") || kind != "" && name != "!"+kind {
		return nil
	}
	fields := map[string]string{}
	for list = strings.TrimSuffix(list, ")"); list != ""; {
		n := fieldLength(list)
		key, value, _ := strings.Cut(list[:n], ": ")
		fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
		list = strings.TrimPrefix(list[n:], ",")
	}
	return fields
}

// fieldLength returns the length of a list up to the comma behind its first field.
func fieldLength(list string) int {
	quoted, open := false, 0
	for n, c := range []byte(list) {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			open++
		case c == ')':
			open--
		case c == ',' && open == 0:
			return n
		}
	}
	return len(list)
}

// unquoted returns a text in quotes, whose other bytes are written as \ and two hexadecimal digits.
func unquoted(text string) string {
	text = strings.Trim(text, `"`)
	var s strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				_ = s.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		_ = s.WriteByte(text[i])
	}
	return s.String()
}
