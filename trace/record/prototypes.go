package record

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// prototype is a function of MPI as the mpi.h of a library declares it.
type prototype struct {
	name       string // without MPI_
	parameters string
	arguments  []string
}

var (
	declared = regexp.MustCompile(`\bint\s+PMPI_(\w+)\s*\(([^;{}]*?)\)\s*(?:;|__attribute__)`)
	arrays   = regexp.MustCompile(`(?:\[[^\]]*\]\s*)*$`)
	word     = regexp.MustCompile(`\w+`)
)

// qualifiers are words of a parameter that are no names and no types alone.
var qualifiers = []string{"const", "restrict", "__restrict", "struct"}

// typeWords are words that end types.
var typeWords = []string{"int", "char", "long", "short", "unsigned", "signed", "double", "float"}

// named returns a parameter with its name, and the name. A parameter without a name gets one.
func named(text string, number int) (parameter, name string) {
	plain := strings.TrimSpace(arrays.ReplaceAllString(text, ""))
	words := slices.DeleteFunc(word.FindAllString(plain, -1), func(w string) bool { return slices.Contains(qualifiers, w) })
	if len(words) > 1 && !strings.HasSuffix(plain, "*") && !slices.Contains(typeWords, words[len(words)-1]) {
		return text, words[len(words)-1]
	}
	name = fmt.Sprintf("argument%d", number)
	return plain + " " + name + arrays.FindString(text), name
}

// prototypes returns the functions that return an int, of a preprocessed mpi.h.
func prototypes(header string) (all []prototype, err error) {
	seen := map[string]bool{}
	for _, m := range declared.FindAllStringSubmatch(header, -1) {
		p := prototype{name: m[1], parameters: strings.Join(strings.Fields(m[2]), " ")}
		if seen[p.name] || strings.HasPrefix(p.name, "T_") {
			continue
		}
		seen[p.name] = true
		if strings.Contains(p.parameters, "(") {
			continue // a function as a parameter
		}
		var list []string
		for text := range strings.SplitSeq(p.parameters, ",") {
			if text = strings.TrimSpace(text); text == "void" || text == "" {
				continue
			}
			text, name := named(text, len(list))
			list, p.arguments = append(list, text), append(p.arguments, name)
		}
		if len(list) > 0 {
			p.parameters = strings.Join(list, ", ")
		}
		all = append(all, p)
	}
	if len(all) < 100 {
		return nil, fmt.Errorf("mpi.h declares %d functions that can be understood: it is of no MPI library that is known", len(all))
	}
	return all, nil
}

// uncounted are functions that are not defined: they may be called at any time, by any thread, and cost less than counting them.
var uncounted = []string{"Initialized", "Finalized", "Get_address", "Is_thread_main", "Query_thread", "Get_version", "Get_library_version", "Status_set_error"}

// counted returns the source of the functions that are not written by hand.
func counted(all []prototype) string {
	var b strings.Builder
	b.WriteString("/* The functions that are no operations. */\n#include \"trace.h\"\n\n#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n")
	for _, p := range all {
		if slices.Contains(Recorded(), p.name) || slices.Contains(uncounted, p.name) || strings.Contains(p.parameters, "...") {
			continue
		}
		macro := "LOCAL"
		if Moves(p.name) {
			macro = "UNRECORDED"
		}
		fmt.Fprintf(&b, "\n#undef MPI_%s\nEXPORT int MPI_%s(%s) { %s(%s); }\nALSO_PMPI(%s)\n", p.name, p.name, p.parameters, macro, strings.Join(append([]string{p.name}, p.arguments...), ", "), p.name)
	}
	return b.String()
}
