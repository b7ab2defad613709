package mpivirt_test

import (
	"fmt"
	"log"
	"os"

	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// A token goes round a ring of a thousand ranks, one message after the other.
func Example() {
	machine, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	result, err := mpivirt.Simulate(machine, 1000, func(r *mpivirt.Rank) error {
		w, token := r.World(), []int64{0}
		if r.Rank() > 0 {
			if _, err := mpivirt.Recv(w, token, r.Rank()-1, 0); err != nil {
				return err
			}
		}
		token[0] += int64(r.Rank())
		if r.Rank() < r.Size()-1 {
			return mpivirt.Send(w, token, r.Rank()+1, 0)
		}
		fmt.Println("the last rank has", token[0], "at", r.Now())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Finished, "ranks finished,", result.Statistics.Messages, "messages")
	// Output:
	// the last rank has 499500 at 1.473953028ms
	// 1000 ranks finished, 999 messages
}

// Four ranks integrate 4/(1+x²) from 0 to 1, and add up what they have.
func ExampleReduce() {
	machine, err := network.Parse("machine.yaml", []byte(`
name: two-nodes
ranks_per_node: 2
network:
  model: twolevel
  intra: {latency: 500ns, bandwidth: 6GB/s}
  inter: {latency: 2us, bandwidth: 1GB/s}
`), os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	_, err = mpivirt.Simulate(machine, 4, func(r *mpivirt.Rank) error {
		const intervals = 1000
		part, pi := []float64{0}, []float64{0}
		for i := r.Rank(); i < intervals; i += r.Size() {
			x := (float64(i) + 0.5) / intervals
			part[0] += 4 / (1 + x*x) / intervals
		}
		r.Compute(10 * vtime.Nanosecond * intervals / 4)
		if err := mpivirt.Reduce(r.World(), part, pi, mpivirt.Sum[float64](), 0); err != nil {
			return err
		}
		if r.Rank() == 0 {
			fmt.Printf("pi is about %.6f, found at %v\n", pi[0], r.Now())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: pi is about 3.141593, found at 5.009333us
}

// Computing overlaps with an allreduce that is under way.
func ExampleIallreduce() {
	machine, err := network.Load("gigabit-star", os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	_, err = mpivirt.Simulate(machine, 8, func(r *mpivirt.Rank) error {
		sum := []int{0}
		request, err := mpivirt.Iallreduce(r.World(), []int{r.Rank()}, sum, mpivirt.Sum[int]())
		if err != nil {
			return err
		}
		r.Compute(100 * vtime.Microsecond)
		if _, err := request.Wait(); err != nil {
			return err
		}
		if r.Rank() == 0 {
			fmt.Println("the sum is", sum[0], "at", r.Now())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: the sum is 28 at 210.204us
}

// The rows of a grid of 3 by 4 ranks each find their greatest number.
func ExampleComm_Split() {
	machine, err := network.Load("vaced-sim", os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	_, err = mpivirt.Simulate(machine, 12, func(r *mpivirt.Rank) error {
		row, err := r.World().Split(r.Rank()/4, r.Rank())
		if err != nil {
			return err
		}
		greatest := []int{0}
		if err := mpivirt.Allreduce(row, []int{r.Rank() * 7 % 12}, greatest, mpivirt.Max[int]()); err != nil {
			return err
		}
		all := make([]int, 12)
		if err := mpivirt.Gather(r.World(), greatest, all, 0); err != nil {
			return err
		}
		if r.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [9 9 9 9 11 11 11 11 10 10 10 10]
}
