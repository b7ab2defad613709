package terminal

import (
	"testing"

	"github.com/spf13/pflag"
)

// Groups come in the order of their beginnings, flags in that of their definitions, and flags without a
// group, such as the help, at the end. Hidden and deprecated flags are left out.
func TestFlagsComeInGroups(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Bool("loose", false, "no group")
	Group(flags, "The machine", func(flags *pflag.FlagSet) {
		flags.String("nodes", "", "nodes `N`")
		flags.Int("cores", 2, "cores `N`")
	})
	Group(flags, "Results", func(flags *pflag.FlagSet) {
		flags.StringP("out", "o", "", "`DIR` of results")
		flags.Bool("secret", false, "")
		flags.Bool("old", false, "")
	})
	Group(flags, "The machine", func(flags *pflag.FlagSet) { flags.String("memory", "", "memory `SIZE`") })
	_ = flags.MarkHidden("secret")                  // it is there
	_ = flags.MarkDeprecated("old", "leave it out") // it is there
	const want = `The machine:
      --nodes N       nodes N
      --cores N       cores N (default 2)
      --memory SIZE   memory SIZE

Results:
  -o, --out DIR   DIR of results

Other flags:
      --loose   no group`
	if got := FlagUsages(flags); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := flags.Parse([]string{"-o", "d", "--cores", "3"}); err != nil || !flags.Changed("out") || !flags.Changed("cores") || flags.Changed("nodes") {
		t.Errorf("%v, or flags of groups are not known to have changed", err)
	}
}

// Without groups the help is as usual.
func TestFlagsWithoutGroups(t *testing.T) {
	flags := pflag.NewFlagSet("man", pflag.ContinueOnError)
	flags.Bool("loose", false, "no group")
	if got, want := FlagUsages(flags), "Flags:\n      --loose   no group"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
