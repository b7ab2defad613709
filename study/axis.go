package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gigarank/internal/quantity"
)

// mostValues bounds the values of an axis. A slip in a range could make very many.
const mostValues = 10_000

// parseAxis reads the values of an axis: items between commas, each a value or a range.
// A range FIRST..LAST doubles; others are FIRST..LAST:xFACTOR and FIRST..LAST:+STEP. It
// returns the values ascending, each once, or all faults. one reads a value; example is a valid
// text. short gets a sentence on each range that does not meet its end.
func parseAxis(text, example string, one func(string) (int64, error), short func(string)) (values []int64, faults []error) {
	for item := range strings.SplitSeq(text, ",") {
		more, wrong := parseItem(strings.TrimSpace(item), example, one, short)
		faults = append(faults, wrong...)
		if values = append(values, more...); len(values) > mostValues {
			faults = append(faults, fmt.Errorf("%q has more than %d values: use a larger step", text, mostValues))
			break
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

// Counts returns the values of an axis of counts, such as 2..1Ki:x4, each from least to most. The error
// has all faults.
func Counts(text string, least, most int64) ([]int64, error) {
	values, faults := parseAxis(text, "2..1Ki:x4 or 16,64", bounded(quantity.ParseCount, least, most), func(string) {})
	return values, errors.Join(faults...)
}

// Sizes is Counts for numbers of bytes.
func Sizes(text string, least, most int64) ([]int64, error) {
	values, faults := parseAxis(text, "8..1Mi:x8 or 8,64Ki", bounded(quantity.ParseSize, least, most), func(string) {})
	return values, errors.Join(faults...)
}

func parseItem(item, example string, one func(string) (int64, error), short func(string)) (values []int64, faults []error) {
	if item == "" {
		return nil, []error{fmt.Errorf("a value is missing: write a list or a range like %s", example)}
	}
	read := func(text string) int64 {
		value, err := one(text)
		if err != nil {
			faults = append(faults, err)
		}
		return value
	}
	from, rest, isRange := strings.Cut(item, "..")
	if !isRange {
		value := read(item) // first: it may add a fault
		return []int64{value}, faults
	}
	to, step, stepped := strings.Cut(rest, ":")
	if from == "" || to == "" {
		return nil, []error{fmt.Errorf("the range %q lacks its first or last value: write one like %s", item, example)}
	}
	if !stepped {
		step = "x2"
	}
	first, last := read(from), read(to)
	next, err := parseStep(item, step)
	if err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if last < first {
		return nil, []error{fmt.Errorf("the range %q runs backwards: write the smaller value first", item)}
	}
	if following, more := next(first); more && following == first {
		return nil, []error{fmt.Errorf("the range %q never leaves %d: begin above 0, or step by :+N", item, first)}
	}
	values = valuesTo(first, last, next)
	if end := values[len(values)-1]; end < last && len(values) <= mostValues {
		short(fmt.Sprintf("the range %q stops at %d: no step ends at %d; add it as a value of its own if it is wanted: %s,%s", item, end, last, item, to))
	}
	return values, nil
}

// parseStep reads xFACTOR or +STEP. next returns false where the next value is too
// large for the type.
func parseStep(item, step string) (next func(int64) (int64, bool), err error) {
	by, err := quantity.ParseCount(strings.TrimLeft(step, "x+"))
	switch {
	case err == nil && strings.HasPrefix(step, "x") && by >= 2:
		return func(v int64) (int64, bool) { return v * by, v <= math.MaxInt64/by }, nil
	case err == nil && strings.HasPrefix(step, "+") && by >= 1:
		return func(v int64) (int64, bool) { return v + by, v <= math.MaxInt64-by }, nil
	}
	return nil, fmt.Errorf("%q is not a step of the range %q: write :x4 to multiply by 4 or :+1K to add 1000", step, item)
}

func valuesTo(first, last int64, next func(int64) (int64, bool)) []int64 {
	var values []int64
	for v, more := first, true; more && v <= last && len(values) <= mostValues; v, more = next(v) {
		values = append(values, v)
	}
	return values
}

// splitNames splits a list of names between commas and drops repeated names.
func splitNames(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
