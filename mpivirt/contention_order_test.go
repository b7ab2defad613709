package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt"
)

// The sections of machines whose nodes share a network.
var sharedNetworks = []string{
	"{model: links, out: 1, in: 1}", "{model: links, busses: 1}", "{model: pmac, busses: 1, out: 1, in: 1}", "{model: fair, out: 1GB/s, in: 1GB/s}",
}

// Messages of a pair do not overtake (MPI 4.1, 3.5), whatever their sizes: not one without bytes, which takes no link, and
// not the request of a rendezvous, and not one with a lower latency.
func TestMessagesOfAPairDoNotOvertake(t *testing.T) {
	for _, section := range sharedNetworks {
		for _, jitter := range []string{"", ", jitter: {distribution: exponential, mean: 20us}"} {
			for _, sizes := range [][]int64{{60_000, 100_000}, {60_000, 100_000, 50_000}, {1 << 20, 0}, {1 << 20, 0, 1 << 19}, {60_000, 0, 0, 10, 100_000, 0}} {
				for _, limit := range []string{"64KiB", "2MiB"} {
					for _, source := range []int{0, mpivirt.AnySource} {
						model := "model: flat, latency: 5us, bandwidth: 2GB/s"
						if len(sizes) == 3 {
							model = "model: factors, intra: {latency: 1us}, inter: {latency: 5us, bandwidth: 2GB/s, latency_factors: [{size: 60000, factor: 30}, {size: 100000, factor: 2}, {size: 2^20, factor: 30}]}"
						}
						machine := "name: order\ncontention: " + section + "\nnetwork: {" + model + ", eager_limit: " + limit + jitter + "}\n"
						// With many other pairs, that jitter has the network keep the order of.
						const ranks = 80
						instants(t, machine, ranks, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
							w := r.World()
							switch r.Rank() {
							case 0:
								for _, bytes := range sizes {
									if err := w.SendSize(bytes, 1, 7); err != nil {
										return err
									}
								}
							case 1:
								var got []int64
								for range sizes {
									s, err := w.RecvSize(2<<20, source, 7)
									if err != nil {
										return err
									}
									got = append(got, s.Bytes)
								}
								if !slices.Equal(got, sizes) {
									return fmt.Errorf("%s, eager limit %s, source %d: messages come as %d, sent as %d", section, limit, source, got, sizes)
								}
							default:
								if err := w.SendSize(10, 2+(r.Rank()-1)%(ranks-2), 0); err != nil {
									return err
								}
								if _, err := w.RecvSize(10, mpivirt.AnySource, 0); err != nil {
									return err
								}
							}
							return nil
						})
					}
				}
			}
		}
	}
}

// The same delays give the same times under each delay model that has them.
func TestSharedNetworksKnowEachModel(t *testing.T) {
	models := []string{
		"{model: twolevel, intra: {latency: 1us, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, eager_limit: 64}",
		"{model: levels, levels: [{name: node, latency: 1us, bandwidth: 6GB/s}, {name: machine, latency: 5us, bandwidth: 2GB/s}], eager_limit: 64}",
		"{model: factors, intra: {latency: 2us, bandwidth: 3GB/s, latency_factors: [{size: 0, factor: 0.5}], bandwidth_factors: [{size: 0, factor: 2}]}, inter: {latency: 5us, bandwidth: 1GB/s, bandwidth_factors: [{size: 1, factor: 2}]}, eager_limit: 64}",
	}
	for _, section := range sharedNetworks {
		var want string
		for _, model := range models {
			got := fmt.Sprint(instants(t, "name: alike\nranks_per_node: 2\ncontention: "+section+"\nnetwork: "+model+"\n", 8, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
				w := r.World()
				for i, bytes := range []int64{10_000, 0, 100} {
					sent, err := w.IsendSize(bytes, (r.Rank()+i+1)%8, i)
					if err != nil {
						return err
					}
					if _, err := w.RecvSize(bytes, mpivirt.AnySource, i); err != nil {
						return err
					}
					if _, err := sent.Wait(); err != nil {
						return err
					}
					note(fmt.Sprint(i))
				}
				return w.Barrier()
			}))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", section, model, got, want)
			}
		}
	}
}

// An event decides about all that is asked at an instant: events grow with messages.
func TestEventsOfSharedNetworks(t *testing.T) {
	const ranks = 96
	for _, section := range sharedNetworks {
		c := mpivirt.Config{Target: target(t, "name: many\ncontention: "+section+"\nnetwork: {model: flat, latency: 5us, bandwidth: 2GB/s}\n", ranks)}
		c.Program = mpivirt.Program{Name: "all", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			for i := 1; i < ranks; i++ { // in turn, so that ranks ask at many instants
				if err := r.World().SendSize(1000, (r.Rank()+i)%ranks, 0); err != nil {
					return err
				}
				if _, err := r.World().RecvSize(1000, (r.Rank()+ranks-i)%ranks, 0); err != nil {
					return err
				}
			}
			return nil
		})}}
		result, err := simulate(t, c, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s := result.Statistics; s.Events > 4*s.Messages {
			t.Errorf("%s: %d events for %d messages", section, s.Events, s.Messages)
		}
	}
}
