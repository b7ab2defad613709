package bench_test

import (
	"testing"

	"gigarank/bench"
	"gigarank/internal/noise"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// Under every kind of noise a program gives one result, however it is hosted.
func TestNoiseHoweverHosted(t *testing.T) {
	for _, program := range []string{"barriertest", "allreducetest"} {
		e, err := bench.Lookup(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []string{"periodic:50us,5us", "exponential:30us,3us", "pareto:30us,1us,2", "trace:detours"} {
			described, err := noise.Parse(spec, func(string) ([]byte, error) { return []byte("10us 2us\n20us 1us\n21us 30us\n"), nil })
			if err != nil {
				t.Fatal(err)
			}
			var plain *mpivirt.Result
			for engines := 1; engines <= 3; engines++ {
				for _, kind := range e.Forms {
					c := bench.Config{Options: bench.Options{Iterations: 4, Compute: 100 * vtime.Microsecond, Payload: 24}}
					c.Kind, c.Noise = kind, described.Seeded(3)
					r := run(t, program, "xt5", 29, engines, c)
					if plain == nil {
						plain = r
					}
					if err := sameOutcome(r, plain); err != nil {
						t.Errorf("%s under %s on %d engines as %v: %v", program, spec, engines, kind, err)
					}
				}
			}
		}
	}
}
