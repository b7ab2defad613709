package network

import (
	"math/big"
	"math/bits"

	"gigarank/vtime"
)

// rate is the time of one byte in picoseconds, as the fraction num/den. The zero value
// is no time: infinite bandwidth.
type rate struct{ num, den uint64 }

// psPerSecond is the number of picoseconds per second.
const psPerSecond = uint64(vtime.Second)

// rateOf returns the time per byte of a path on which every byte passes each of the stages in turn.
// Stages are in bytes per second; a stage of 0 takes no time. The fraction is exact if its terms
// fit 63 bits. Otherwise it is the nearest multiple of a power of two that fits, off by at most
// 2^-62 of itself or 2^-63 of a picosecond.
func rateOf(stages ...bandwidth) rate {
	sum := new(big.Rat)
	for _, b := range stages {
		sum.Add(sum, b.perByte())
	}
	return nearestRate(sum)
}

// perByte returns the exact time per byte in picoseconds, 0 for infinite bandwidth.
func (b bandwidth) perByte() *big.Rat {
	if b == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(psPerSecond), new(big.Int).SetUint64(uint64(b)))
}

// nearestRate returns a time per byte as a rate, exact or cut as in rateOf.
func nearestRate(perByte *big.Rat) rate {
	if perByte.Sign() == 0 {
		return rate{}
	}
	num, den := perByte.Num(), perByte.Denom()
	if max(num.BitLen(), den.BitLen()) > 63 {
		wholeBits := max(num.BitLen()-den.BitLen()+1, 0)
		shift := uint(62 - wholeBits)
		num = new(big.Int).Lsh(num, shift)
		num.Add(num, new(big.Int).Rsh(den, 1))
		num.Div(num, den)
		den = new(big.Int).Lsh(big.NewInt(1), shift)
	}
	return rate{num.Uint64(), den.Uint64()}
}

// time returns the time of the bytes, to the nearest picosecond, ties to even, at most Endless. A
// count of bytes below one takes no time.
func (r rate) time(bytes int64) vtime.Duration {
	if r.num == 0 || bytes <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(bytes), r.num)
	if r.den == 1 {
		if hi != 0 || lo > uint64(vtime.Endless) {
			return vtime.Endless
		}
		return vtime.Duration(lo)
	}
	if hi >= r.den {
		return vtime.Endless
	}
	quotient, rest := bits.Div64(hi, lo, r.den)
	if quotient >= uint64(vtime.Endless) {
		return vtime.Endless
	}
	if over := r.den - rest; rest > over || rest == over && quotient&1 == 1 {
		quotient++
	}
	return vtime.Duration(quotient)
}

// times returns n·d, or 0 if n or d is negative.
func times(n int64, d vtime.Duration) vtime.Duration { return max(d, 0).Times(int(max(n, 0))) }
