package spelling

import "fmt"

// Count returns a number with a noun, in the singular or the plural: "1 rank", "2 ranks",
// "2 processes".
func Count[T ~int | ~int32 | ~int64 | ~uint64](n T, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun[len(noun)-1] == 's':
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
