// Package random returns counter-based random numbers. A number is a pure function of
// (seed, stream, counter): nothing is stored per rank, and a value does not depend on
// earlier calls.
//
// The mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", OOPSLA 2014), applied once per
// word of the key.
//
// # The same bits on every processor
//
// Logarithms and exponentials of package math differ between processors in the
// last place: some have them in assembly, and some fuse a product with a sum. So
// distributions are computed here in integers, in fixed point (logarithm.go), and
// come out as whole picoseconds. [Float64] is exact: a whole number below 2^53,
// divided by a power of two.
package random

import (
	"math"
	"math/bits"

	"gigarank/vtime"
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

// Exponential returns a duration from the exponential distribution for the key, to the
// nearest picosecond; mean >= 0. With n the key's 64 bits it is −mean·ln(1 − n/2^64),
// off by at most half a picosecond and mean·2^-56.
func Exponential(seed, stream, counter uint64, mean vtime.Duration) vtime.Duration {
	return exponential(-Uint64(seed, stream, counter), mean)
}

// exponential returns −mean·ln(x/2^64), where x = 0 stands for 2^64.
func exponential(x uint64, mean vtime.Duration) vtime.Duration {
	hi, lo := bits.Mul64(uint64(mean), mulHigh(minusLog2(x), ln2))
	return nearest(hi, lo, logBits)
}

// Pareto returns a duration from the Pareto distribution with a least value and the
// tail index alpha > 1 for the key, to the nearest picosecond. With n the key's 64 bits
// it is least·(1 − n/2^64)^(−1/alpha), off by at most half a picosecond and a share of
// 2^-55. A result that does not fit is the longest duration.
func Pareto(seed, stream, counter uint64, least vtime.Duration, alpha float64) vtime.Duration {
	return pareto(-Uint64(seed, stream, counter), least, alpha)
}

// pareto returns least·(x/2^64)^(−1/alpha), where x = 0 stands for 2^64.
func pareto(x uint64, least vtime.Duration, alpha float64) vtime.Duration {
	exponent := mulHigh(minusLog2(x), reciprocal(alpha))
	whole := exponent >> logBits
	if whole > 63 {
		return math.MaxInt64
	}
	hi, lo := bits.Mul64(uint64(least), power2(exponent<<(64-logBits)))
	return nearest(hi, lo, uint(63-whole))
}

// Lognormal returns a duration from the lognormal distribution with a median and a deviation
// sigma of its logarithm, at most 5, for the key. It is median·e^(sigma·z), where z is normal, made of
// twelve uniform numbers (Irwin and Hall), so that it is never beyond 6. A result that does
// not fit is the longest duration.
func Lognormal(seed, stream, counter uint64, median vtime.Duration, sigma float64) vtime.Duration {
	z := -6 << 32 // in units of 2^-32
	for i := range uint64(6) {
		x := Uint64(Mix(seed^(i+1)), stream, counter)
		z += int(x>>32) + int(x&math.MaxUint32)
	}
	// The exponent of two, in units of 2^-32: sigma/ln 2 is in units of 2^-16.
	exponent := z * int(sigma*(65536/math.Ln2)) >> 16
	whole := exponent >> 32
	if whole > 63 {
		return math.MaxInt64
	}
	hi, lo := bits.Mul64(uint64(median), power2(uint64(exponent&math.MaxUint32)<<32))
	if whole < 0 {
		return nearest(hi, lo, 63) >> min(-whole, 63)
	}
	return nearest(hi, lo, uint(63-whole))
}

// nearest returns (hi·2^64 + lo)/2^shift to the nearest picosecond, half of one
// upwards, or the longest duration; shift <= 63, hi < 2^63.
func nearest(hi, lo uint64, shift uint) vtime.Duration {
	lo, carry := bits.Add64(lo, 1<<shift>>1, 0)
	hi += carry
	if hi>>shift != 0 {
		return math.MaxInt64
	}
	return vtime.Duration(min(hi<<(64-shift)|lo>>shift, math.MaxInt64))
}

// Intn returns a number in [0, n) for the key, n > 0, with a bias below n/2^64.
func Intn(seed, stream, counter uint64, n int) int {
	hi, _ := bits.Mul64(Uint64(seed, stream, counter), uint64(n))
	return int(hi)
}
