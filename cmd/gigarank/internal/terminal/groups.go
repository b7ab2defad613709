package terminal

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// groupOf is the annotation of a flag with the heading under which the help has it.
const groupOf = "gigarank_group"

// usualHeading is the heading of the flags that belong to no group.
const usualHeading = "Flags"

// Group defines flags that the help has under a heading of their own. Groups come in the order in
// which they are begun, and a later call adds to a group.
func Group(flags *pflag.FlagSet, heading string, define func(flags *pflag.FlagSet)) {
	group := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	group.SortFlags = false
	define(group)
	group.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[groupOf] = []string{heading}
		flags.AddFlag(f)
	})
}

// FlagUsages returns the description of the flags by groups, each under its heading. Flags without a
// group come last.
func FlagUsages(flags *pflag.FlagSet) string {
	groups := map[string]*pflag.FlagSet{}
	var headings []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		heading := usualHeading
		if f.Annotations[groupOf] != nil {
			heading = f.Annotations[groupOf][0]
		}
		if groups[heading] == nil {
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			groups[heading].SortFlags = false
			headings = append(headings, heading)
		}
		groups[heading].AddFlag(f)
	})
	if i := slices.Index(headings, usualHeading); i >= 0 {
		headings = append(slices.Delete(headings, i, i+1), usualHeading)
	}
	var sections []string
	for _, heading := range headings {
		title := heading
		if heading == usualHeading && len(headings) > 1 {
			title = "Other flags"
		}
		sections = append(sections, title+":\n"+groups[heading].FlagUsages())
	}
	return strings.TrimRight(strings.Join(sections, "\n"), "\n")
}
