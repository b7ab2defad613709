package steps_test

import (
	"fmt"
	"log"
	"os"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/vtime"
)

// A hundred thousand event ranks, of a byte each, compute and meet in barriers.
func ExampleNew() {
	machine, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	program := steps.New(func(r *steps.Rank, meetings *uint8) steps.Outcome {
		if *meetings == 3 {
			return r.Finish()
		}
		*meetings++
		r.Compute(vtime.Millisecond)
		return r.Barrier()
	})
	result, err := steps.Simulate(machine, 100_000, program)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Finished, "ranks finished at", result.VirtualTime)
	// Output: 100000 ranks finished at 3.2382ms
}

// A master hands numbers to whoever asks, and the workers add up what they get: a
// receive from any source, and a sum over the workers alone.
func ExampleRank() {
	machine, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		log.Fatal(err)
	}
	const numbers = 1000
	type state struct {
		step    uint8
		next    int64 // master: the number to hand out, 0 at the end of them
		idle    int   // master: workers that have been told of the end
		sum     int64 // worker
		workers steps.Comm
	}
	const split, ask, answer, add, end = 0, 1, 2, 3, 4
	master := func(r *steps.Rank, s *state) steps.Outcome {
		switch s.step {
		case ask:
			if s.idle == r.Size()-1 {
				return r.Finish()
			}
			s.step = answer
			return r.Recv(mpivirt.AnySource, 0)
		default:
			s.step = ask
			if s.next++; s.next > numbers {
				s.next, s.idle = numbers, s.idle+1
				return steps.Send(r, []int64{0}, r.Status().Source, 0)
			}
			return steps.Send(r, []int64{s.next}, r.Status().Source, 0)
		}
	}
	worker := func(r *steps.Rank, s *state) steps.Outcome {
		switch s.step {
		case ask:
			s.step = answer
			return r.SendrecvSize(0, 0, 0, 0, 0)
		case answer:
			number := steps.Data[int64](r)[0]
			s.sum += number
			if s.step = ask; number == 0 {
				s.step = add
				return r.Continue()
			}
			r.Compute(vtime.Duration(number) * vtime.Nanosecond)
			return r.Continue()
		case add:
			s.step = end
			return steps.Allreduce(r.On(s.workers), []int64{s.sum}, mpivirt.Sum[int64]())
		default:
			if workers := r.On(s.workers); workers.Member() == 0 {
				fmt.Println(workers.Members(), "workers have", steps.Result[int64](workers)[0], "at", r.Now())
			}
			return r.Finish()
		}
	}
	program := steps.New(func(r *steps.Rank, s *state) steps.Outcome {
		role := min(r.Rank(), 1)
		switch {
		case s.step == split:
			s.step = ask
			return r.Split(role, r.Rank())
		case s.workers == steps.Comm{}:
			s.workers = r.NewComm(role)
		}
		if role == 0 {
			return master(r, s)
		}
		return worker(r, s)
	})
	if _, err := steps.Simulate(machine, 9, program); err != nil {
		log.Fatal(err)
	}
	// Output: 8 workers have 500500 at 611.369332us
}
