package bench

import (
	"fmt"
	"slices"
	"strings"

	"gigarank/internal/spelling"
)

// Argument describes an argument NAME=VALUE of a program.
type Argument struct {
	Name    string
	Meaning string // one line
	Default string
}

// Values are the values of a program's arguments by name, defaults included.
type Values map[string]string

// ReadArguments returns the options of the program that its arguments give, as [Options].Own has them, nil for none, or all faults.
func (e Entry) ReadArguments(arguments []string, readFile func(string) ([]byte, error)) (own any, faults []error) {
	if len(e.Arguments) == 0 {
		if len(arguments) > 0 {
			return nil, []error{fmt.Errorf("%s takes flags alone: leave out %s", e.Name, strings.Join(arguments, " "))}
		}
		return nil, nil
	}
	values, names := Values{}, make([]string, len(e.Arguments))
	for i, a := range e.Arguments {
		values[a.Name], names[i] = a.Default, a.Name
	}
	given := map[string]bool{}
	for _, text := range arguments {
		name, value, paired := strings.Cut(text, "=")
		switch {
		case !paired:
			faults = append(faults, fmt.Errorf("%q is not NAME=VALUE, such as %s=%s", text, e.Arguments[0].Name, e.Arguments[0].Default))
		case !slices.Contains(names, name):
			faults = append(faults, fmt.Errorf("program %s has no argument %q: %s", e.Name, name, spelling.Choices(name, names)))
		case given[name]:
			faults = append(faults, fmt.Errorf("%s is given twice: leave one of the two out", name))
		default:
			values[name], given[name] = value, true
		}
	}
	own, wrong := e.Read(values, readFile)
	if faults = append(faults, wrong...); faults != nil {
		return nil, faults
	}
	return own, nil
}

// With returns the program with its arguments as defaults of its options, or all faults.
func (e Entry) With(arguments []string, readFile func(string) ([]byte, error)) (Entry, []error) {
	own, faults := e.ReadArguments(arguments, readFile)
	e.Defaults.Own = own
	return e, faults
}

// Figure is a number that a program makes of its recorded times.
type Figure struct {
	Name  string
	Value float64
	Unit  string // "ps" for virtual times, "" for ratios
}
