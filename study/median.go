package study

import (
	"math"
	"slices"
)

// confidence is the confidence of the intervals of medians.
const confidence = 0.95

// leastSeeds is the least number of seeds that bound a median. Fewer all lie on one
// side of it with a probability above 1 − confidence.
const leastSeeds = 6

// median returns the median of values and an interval for the median of their
// distribution, by order statistics: the k-th least and the k-th greatest value. k is
// the largest number for which the interval holds the median at least with the
// confidence, whatever the distribution (Conover, Practical Nonparametric Statistics,
// section 3.2). For fewer than leastSeeds values it is their range, which is less
// certain.
func median(values []float64) (middle, low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	middle = (sorted[(n-1)/2] + sorted[n/2]) / 2
	k := max(intervalOrder(n), 1)
	return middle, sorted[k-1], sorted[n-k]
}

// intervalOrder returns the largest k for which fewer than k of n values lie below the
// median with a probability of at most (1 − confidence)/2. It returns 0 if there is
// none.
func intervalOrder(n int) int {
	below := 0.0
	for k := range n/2 + 1 {
		below += binomialHalf(n, k)
		if below > (1-confidence)/2 {
			return k
		}
	}
	return n / 2
}

// binomialHalf returns the probability that k of n fair coins show heads.
func binomialHalf(n, k int) float64 {
	logFactorial := func(i int) float64 {
		v, _ := math.Lgamma(float64(i) + 1)
		return v
	}
	return math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) - float64(n)*math.Ln2)
}
