package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// longest is the length in bytes up to which a word is compared with others.
const longest = 64

// Nearest returns the candidate at the least distance from the word, if that is at most
// a third of the word's bytes, or one. Otherwise it returns the first candidate that
// begins with the word, if the word has at least three bytes.
func Nearest(word string, candidates []string) (string, bool) {
	if len(word) > longest {
		return "", false
	}
	word = strings.ToLower(word)
	best, fewest := -1, max(1, len(word)/3)+1
	for i, c := range candidates {
		if len(c) > longest {
			continue
		}
		if d := distance(word, strings.ToLower(c)); d < fewest {
			best, fewest = i, d
		}
	}
	if best < 0 && len(word) >= 3 {
		best = slices.IndexFunc(candidates, func(c string) bool { return strings.HasPrefix(strings.ToLower(c), word) })
	}
	if best < 0 {
		return "", false
	}
	return candidates[best], true
}

// distance returns the distance of a and b.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := above[j-1]
			if a[i-1] != b[j-1] {
				substitute++
			}
			row[j] = min(above[j]+1, row[j-1]+1, substitute)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// Suggest returns the remedy, after the candidate that the word may stand for if there
// is one.
func Suggest(word string, candidates []string, remedy string) string {
	if meant, near := Nearest(word, candidates); near {
		return fmt.Sprintf("did you mean %s? %s", meant, remedy)
	}
	return remedy
}

// Choices returns Suggest with a remedy that lists all candidates.
func Choices(word string, candidates []string) string {
	return Suggest(word, candidates, "there are: "+strings.Join(candidates, ", "))
}
