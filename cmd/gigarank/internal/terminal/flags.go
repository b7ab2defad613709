package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gigarank/internal/input"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
)

// Choose returns the value with a name. Its error names the values by noun.
func Choose[T fmt.Stringer](noun, name string, values []T) (T, error) {
	names := make([]string, len(values))
	for i, v := range values {
		if names[i] = v.String(); names[i] == name {
			return v, nil
		}
	}
	var none T
	return none, fmt.Errorf("unknown %s %q: %s", noun, name, spelling.Choices(name, names))
}

// ReadCount reads a number from least to most.
func ReadCount(text string, least, most int64) (int64, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		return 0, fmt.Errorf("%s is negative: use a number of at least %d", text, least)
	}
	n, err := quantity.ParseCount(text)
	switch {
	case err != nil:
		return 0, err
	case n < least:
		return 0, fmt.Errorf("%s is too small: use a number of at least %d", text, least)
	case n > most:
		return 0, fmt.Errorf("%s is too large: use a number of at most %d", text, most)
	}
	return n, nil
}

// AddFile adds the faults of a flag that names a file. Faults in the file are named by
// file and line, others by the flag.
func (u *UsageError) AddFile(flag string, err error) {
	var faults input.Faults
	if errors.As(err, &faults) {
		*u = append(*u, faults.Unwrap()...)
		return
	}
	u.Add(flag, err)
}

// EmptyFlags returns the flags that were given without a value as faults: a variable of a job
// script may not be set.
func EmptyFlags(flags *pflag.FlagSet) error {
	var faults UsageError
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			faults.Add("--"+f.Name, errors.New("the value is empty: give one, or leave the flag out"))
		}
	})
	return faults.OrNil()
}
