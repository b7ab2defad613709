package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/loggp"
	"gigarank/internal/noise"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/study"
)

// asksForValues reports whether a command line is that of a shell which completes another.
func asksForValues(arguments []string) bool {
	return len(arguments) > 1 && (arguments[1] == cobra.ShellCompRequestCmd || arguments[1] == cobra.ShellCompNoDescRequestCmd)
}

// completeValues makes shells complete the values of arguments and flags, beside files
// where a file is one of them. Cobra keeps each flag whose values complete, and with it all commands, until the process ends.
func completeValues(root *cobra.Command) {
	arguments := map[string]func() []string{
		"run": programNames, "plan": programNames, "efficiency": programNames, "study": func() []string { return append(study.Operations(), programNames()...) }, "scaling": scalingNames,
		"validate": func() []string { return validated }, "show": presetNames, "check": presetNames,
		"algorithms": operationNames,
	}
	flags := map[string]func() []string{
		"machine": presetNames, "library": library.Names, "base": library.Names, "lp": kindsOfRank(mpivirt.Kinds()), "sync": texts(protocols), "collectives": texts(interpreters), "progress": texts(terminal.ProgressModes),
		"barrier":   func() []string { return algorithmNames(collectives.Barrier) },
		"allreduce": func() []string { return algorithmNames(collectives.Allreduce) },
		"algorithm": algorithmPairs, "mapping": network.Mappings, "algorithms": nil, // those of the operation that is studied
		"model": func() []string { return loggp.Models }, "calibrate": func() []string { return calibrateModes },
		"skeleton": func() []string { return []string{withoutWeights} }, "compress": texts(compressions), "matching": texts(matchings), "mode": texts(recordingModes),
		"scaling": func() []string { return []string{study.StrongScaling, study.WeakScaling} },
		"cpu":     texts(cpuModes), "contents": texts(contentsWays), "datatype": texts(bench.Datatypes()), "stacks": texts(stackWays), "noise": func() []string { return append([]string{study.NoNoise}, noise.Forms()...) },
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if values, known := arguments[cmd.Name()]; known && (cmd.Name() != "check" || cmd.Parent() != root) {
			cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveDefault
				}
				// A machine or a native program is a file, too.
				return values(), directive(slices.Contains([]string{"run", "show", "check", "study", "efficiency"}, cmd.Name()))
			}
		}
		for name, values := range flags {
			flag := cmd.Flags().Lookup(name)
			if flag == nil {
				continue
			}
			kind, _ := pflag.UnquoteUsage(flag)
			studied := cmd.Name() == "study" || cmd.Name() == "scaling"
			// The only error is that of a flag that is not there.
			_ = cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				var names []string
				switch {
				case values == nil || name == "algorithm" && studied:
					names = algorithmsOf(args)
				case name == "cpu" && cmd.Name() == "replay":
					names = texts(burstTimes)()
				case name == "lp" && studied:
					names = kindsOfRank(studiedKinds())()
				default:
					names = values()
				}
				if kind == "LIST" {
					names = behind(begun[:strings.LastIndexByte(begun, ',')+1], names)
				}
				return names, directive(name == "machine" || name == "library")
			})
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// behind returns the values as the next ones of a list.
func behind(list string, values []string) (longer []string) {
	for _, v := range values {
		longer = append(longer, list+v)
	}
	return longer
}

// directive tells a shell whether files complete, too.
func directive(files bool) cobra.ShellCompDirective {
	if files {
		return cobra.ShellCompDirectiveDefault
	}
	return cobra.ShellCompDirectiveNoFileComp
}

func programNames() (names []string) {
	for _, e := range bench.Programs() {
		names = append(names, e.Name)
	}
	return names
}

func operationNames() (names []string) {
	for _, op := range collectives.Operations() {
		names = append(names, op.String())
	}
	return names
}

func scalingNames() (names []string) {
	for _, op := range study.ScalingOperations {
		names = append(names, op.String())
	}
	return names
}

func presetNames() (names []string) {
	for _, p := range network.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func kindsOfRank(kinds []*mpivirt.Kind) func() []string {
	return func() (names []string) {
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return names
	}
}

func algorithmNames(op collectives.Operation) (names []string) {
	for _, a := range collectives.AllAlgorithms(op) {
		names = append(names, a.String())
	}
	return names
}

// algorithmsOf returns the algorithms of the operation that is the first argument.
func algorithmsOf(args []string) []string {
	for _, op := range collectives.Operations() {
		if len(args) > 0 && op.String() == args[0] {
			return algorithmNames(op)
		}
	}
	return nil
}

// algorithmPairs returns all values of --algorithm.
func algorithmPairs() (pairs []string) {
	for _, op := range collectives.Operations() {
		for _, name := range algorithmNames(op) {
			pairs = append(pairs, strings.Join([]string{op.String(), name}, "="))
		}
	}
	return pairs
}

// texts returns the function that returns the names of values.
func texts[T interface{ String() string }](values []T) func() []string {
	return func() (names []string) {
		for _, v := range values {
			names = append(names, v.String())
		}
		return names
	}
}
