package random

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// The expected values are computed by math/big with so many bits that their own error
// does not matter.
const precision = 200

func number(x float64) *big.Float { return big.NewFloat(x).SetPrec(precision) }

func whole(x uint64) *big.Float { return new(big.Float).SetPrec(precision).SetUint64(x) }

func calculate(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return f(new(big.Float).SetPrec(precision), x, y)
}

func add(x, y *big.Float) *big.Float { return calculate((*big.Float).Add, x, y) }
func sub(x, y *big.Float) *big.Float { return calculate((*big.Float).Sub, x, y) }
func mul(x, y *big.Float) *big.Float { return calculate((*big.Float).Mul, x, y) }
func quo(x, y *big.Float) *big.Float { return calculate((*big.Float).Quo, x, y) }

// scaled returns x·2^exponent.
func scaled(x *big.Float, exponent int) *big.Float {
	return new(big.Float).SetPrec(precision).SetMantExp(x, exponent)
}

// naturalLog is ln x = 2·artanh((x−1)/(x+1)) by its series, for 1 <= x <= 2.
func naturalLog(x *big.Float) *big.Float {
	s := quo(sub(x, number(1)), add(x, number(1)))
	power, sum := s, number(0)
	for n := 1; n < 127; n += 2 { // s <= 1/3
		sum = add(sum, quo(power, number(float64(n))))
		power = mul(power, mul(s, s))
	}
	return mul(number(2), sum)
}

var bigLn2 = naturalLog(number(2))

// exactMinusLn is −ln(x/2^64), where x = 0 stands for 2^64.
func exactMinusLn(x uint64) *big.Float {
	if x == 0 {
		return number(0)
	}
	fraction := new(big.Float).SetPrec(precision)
	exponent := whole(x).MantExp(fraction) // fraction in [1/2, 1)
	return sub(mul(number(float64(64-exponent+1)), bigLn2), naturalLog(mul(fraction, number(2))))
}

// exactExp is e^x by its series, for 0 <= x <= 64.
func exactExp(x *big.Float) *big.Float {
	x = scaled(x, -10)
	term, sum := number(1), number(1)
	for n := 1; n < 32; n++ { // x <= 1/16
		term = quo(mul(term, x), number(float64(n)))
		sum = add(sum, term)
	}
	for range 10 {
		sum = mul(sum, sum)
	}
	return sum
}

// samples is the number of pairs of random words in a test.
const samples = 300

// words are the critical words, and others all over the range.
func words(t *testing.T) []uint64 {
	t.Helper()
	list := []uint64{0, 1, 2, 3, math.MaxUint64, math.MaxUint64 - 1}
	for k := range 64 {
		list = append(list, 1<<k, 1<<k+1, 1<<k-1)
	}
	for i := range uint64(256) { // the first and the last word of each line of the table
		list = append(list, (256+i)<<55, (256+i)<<55+1, (257+i)<<55-1)
	}
	for i := range uint64(samples) {
		list = append(list, Uint64(1, i, 0), Uint64(1, i, 1)>>(i%64))
	}
	return list
}

func TestConstants(t *testing.T) {
	floor := func(x *big.Float) uint64 { n, _ := x.Uint64(); return n }
	if want := floor(scaled(bigLn2, 64)); ln2 != want {
		t.Errorf("ln 2 is %#x, want %#x", uint64(ln2), want)
	}
	if want := floor(scaled(quo(number(1), bigLn2), 63)); log2e != want {
		t.Errorf("log2 e is %#x, want %#x", uint64(log2e), want)
	}
	for i, got := range log2Table {
		a := number(1 + float64(i)/256)
		if want := floor(scaled(quo(naturalLog(a), bigLn2), 63)); got != want {
			t.Errorf("log2(1 + %d/256) is %#x, want %#x", i, got, want)
		}
	}
	factorial := uint64(1)
	for i, got := range inverseFactorials {
		factorial *= uint64(i + 1)
		if got != one/factorial {
			t.Errorf("1/%d! is %#x, want %#x", i+1, got, one/factorial)
		}
	}
}

func TestLogarithmIsWithinItsBound(t *testing.T) {
	for _, x := range words(t) {
		exact := scaled(quo(exactMinusLn(x), bigLn2), logBits)
		if over, _ := sub(whole(minusLog2(x)), exact).Float64(); over < -1e-20 || over >= 2 {
			t.Errorf("−log2(%#x/2^64) is %#x, which is %g units of 2^-57 above the exact value", x, minusLog2(x), over)
		}
	}
	for k := range 64 {
		if got, want := minusLog2(1<<k), uint64(64-k)<<logBits; got != want {
			t.Errorf("−log2(2^%d/2^64) is %#x, want %#x", k, got, want)
		}
	}
}

// The comment at minusLog2 proves it between two words of one line of the table. This
// test has every end of a line with its neighbours, under every exponent, and a sample.
func TestLogarithmIsMonotone(t *testing.T) {
	list := words(t)
	for _, x := range list[:len(list)-2*samples] {
		for shift := range 64 {
			list = append(list, x>>shift)
		}
	}
	list = slices.DeleteFunc(list, func(x uint64) bool { return x == 0 })
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if before, after := minusLog2(list[i-1]), minusLog2(list[i]); after > before {
			t.Errorf("−log2 rises from %#x at %#x to %#x at %#x", before, list[i-1], after, list[i])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Uint64Range(1, math.MaxUint64-1000).Draw(t, "x")
		y := x + rapid.Uint64Range(1, 1000).Draw(t, "step")
		if minusLog2(y) > minusLog2(x) {
			t.Fatalf("−log2 rises from %#x to %#x", x, y)
		}
	})
}

func TestPowerIsWithinItsBound(t *testing.T) {
	for _, f := range words(t) {
		exact := scaled(exactExp(mul(scaled(whole(f), -64), bigLn2)), 63)
		if under, _ := sub(exact, whole(power2(f))).Float64(); under < -1e-20 || under >= 8 {
			t.Errorf("2^(%#x/2^64) is %#x, which is %g units of 2^-63 below the exact value", f, power2(f), under)
		}
	}
	if got := power2(0); got != one {
		t.Errorf("2^0 is %#x", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Uint64Range(0, math.MaxUint64-1000).Draw(t, "f")
		g := f + rapid.Uint64Range(0, 1000).Draw(t, "step")
		if power2(g) < power2(f) {
			t.Fatalf("2^f falls from %#x to %#x", f, g)
		}
	})
}

func TestReciprocal(t *testing.T) {
	for _, v := range []float64{math.Nextafter(1, 2), 1.5, math.Nextafter(2, 1), 2, math.Nextafter(2, 3), 3, 4, 1e9, 0x1p63, 0x1p64, 1e300, math.MaxFloat64} {
		exact := quo(scaled(number(1), 64), number(v))
		if under, _ := sub(exact, whole(reciprocal(v))).Float64(); under < 0 || under > 1 {
			t.Errorf("2^64/%g is %d, which is %g below the exact value", v, reciprocal(v), under)
		}
	}
}

// far reports whether a duration is further from the exact one than rounding and the
// given error allow. A result that does not fit is the longest duration.
func far(got vtime.Duration, exact *big.Float, err float64) bool {
	if longest := whole(math.MaxInt64); exact.Cmp(longest) > 0 {
		exact = longest
	}
	off, _ := sub(whole(uint64(got)), exact).Float64()
	return got < 0 || math.Abs(off) > 0.5+err
}

func TestDistributionsAreWithinTheirBounds(t *testing.T) {
	durations := []vtime.Duration{0, 1, 3, vtime.Microsecond, 900 * vtime.Nanosecond, vtime.Hour, math.MaxInt64 / 2, math.MaxInt64}
	for i, x := range words(t) {
		d := durations[i%len(durations)]
		minusLn := exactMinusLn(x)
		if got, exact := exponential(x, d), mul(minusLn, whole(uint64(d))); far(got, exact, float64(d)*0x1p-56) {
			t.Errorf("word %#x, mean %d ps: %d ps, want %.2f", x, d, got, exact)
		}
		for _, alpha := range []float64{math.Nextafter(1, 2), 1.5, 2, 2.5, 10, 1e300} {
			exact := mul(exactExp(quo(minusLn, number(alpha))), whole(uint64(d)))
			bound, _ := scaled(exact, -55).Float64()
			if got := pareto(x, d, alpha); far(got, exact, min(bound, math.MaxInt64>>55)) {
				t.Errorf("word %#x, least %d ps, alpha %g: %d ps, want %.2f", x, d, alpha, got, exact)
			}
		}
	}
}
