package sync_test

import (
	"fmt"
	stdsync "sync"

	"gigarank/sync"
	"gigarank/vtime"
)

// Two engines have one event each. Engine 0 at 1 s sends a record to engine 1, which
// has an event at 2 s of its own. It must not run that before it has the record.
func Example() {
	const lookahead = vtime.Microsecond
	transports := sync.NewInProcess(2)
	var engines stdsync.WaitGroup
	for rank, transport := range transports {
		engines.Go(func() {
			defer func() {
				if err := transport.Close(); err != nil {
					fmt.Println(err)
				}
			}()
			endpoint := sync.NewEndpoint(transport, sync.Config{
				Lookahead: func(int) vtime.Duration { return lookahead },
			})
			next := vtime.Time(0).Add(vtime.Duration(rank+1) * vtime.Second)
			unfinished := 1
			for {
				if _, err := endpoint.Poll(func(src int, record []byte) {
					fmt.Printf("engine %d hears %q from engine %d\n", rank, record, src)
				}); err != nil {
					fmt.Println(err)
					return
				}
				endpoint.Advance(next)
				if next < endpoint.EIT() {
					fmt.Printf("engine %d is at %v\n", rank, next)
					if rank == 0 {
						copy(endpoint.Reserve(1, 5), "hello")
					}
					next, unfinished = vtime.Forever, 0
					continue
				}
				if outcome, err := endpoint.Wait(next, unfinished); outcome != sync.Continue || err != nil {
					return
				}
			}
		})
	}
	engines.Wait()
	// Output:
	// engine 0 is at 1s
	// engine 1 hears "hello" from engine 0
	// engine 1 is at 2s
}
