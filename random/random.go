// Package random gives counter-based random numbers: a number is a pure
// function of (seed, stream, counter), so nothing has to be stored per rank and
// a value does not depend on who asked for what before.
//
// The mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", OOPSLA 2014), applied once per
// word of the key.
package random

import (
	"math"
	"math/bits"
)

// gamma is the golden ratio's odd fraction of 2^64 that SplitMix64 counts by.
const gamma = 0x9e3779b97f4a7c15

// Mix scrambles a word: a bijection of 64 bits in which every input bit changes
// each output bit with probability one half.
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns 64 random bits for the key (seed, stream, counter). A stream is
// a rank or an LP; the counter is its step.
func Uint64(seed, stream, counter uint64) uint64 {
	x := Mix(seed + gamma)
	x = Mix(x ^ (stream+1)*gamma)
	return Mix(x + (counter+1)*gamma)
}

// Float64 returns a number in [0, 1) for the key.
func Float64(seed, stream, counter uint64) float64 {
	return float64(Uint64(seed, stream, counter)>>11) / (1 << 53)
}

// Exponential returns a number of the exponential distribution with mean 1 for
// the key.
func Exponential(seed, stream, counter uint64) float64 {
	return -math.Log1p(-Float64(seed, stream, counter))
}

// Intn returns a number in [0, n) for the key, n > 0, with a bias below n/2^64.
func Intn(seed, stream, counter uint64, n int) int {
	hi, _ := bits.Mul64(Uint64(seed, stream, counter), uint64(n))
	return int(hi)
}
