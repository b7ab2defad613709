package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	stdsync "sync"
	"time"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/sync"
)

// exchange is an operation that gives every goroutine rank bytes of the others. Ranks have
// their own slices. bare does to all slices what the operation does, without a simulation. With
// a loop instead, which does the same by messages, all ranks share two slices.
type exchange struct {
	name    string
	ranks   int
	in, out int // doubles of a rank; in place, in is 0
	call    func(r *mpivirt.Rank, in, out []float64) error
	bare    func(in, out [][]float64)
	message bool // a binomial allreduce by messages, called many times in turn
	loop    func(r *mpivirt.Rank, in, out []float64) error
	engines int
}

// exchanges are measured by payloads.
var exchanges = []exchange{
	{name: "Bcast of 1 MB to 1,024 ranks", ranks: 1024, out: megabyte, call: broadcast, bare: copyFirst, engines: 1},
	{name: "Bcast of 1 MB to 1,024 ranks, two engines", ranks: 1024, out: megabyte, call: broadcast, bare: copyFirst, engines: 2},
	{name: "Bcast of 64 MB to 64 ranks", ranks: 64, out: 64 * megabyte, call: broadcast, bare: copyFirst, engines: 1},
	{name: "Bcast of 64 MB to 64 ranks, two engines", ranks: 64, out: 64 * megabyte, call: broadcast, bare: copyFirst, engines: 2},
	{name: "Allreduce of 1 MB, 1,024 ranks", ranks: 1024, in: megabyte, out: megabyte, call: reduce, bare: sumAndCopy, engines: 1},
	{name: "Allgather of 1 KB to 1 MB, 1,024 ranks", ranks: 1024, in: megabyte / 1024, out: megabyte, call: gather, bare: concatenate, engines: 1},
	{name: "Allgather of 1 KB to 1 MB, 1,024 ranks, two engines", ranks: 1024, in: megabyte / 1024, out: megabyte, call: gather, bare: concatenate, engines: 2},
	{name: "Alltoall of 1 KB, 1,024 ranks", ranks: 1024, in: megabyte, out: megabyte, call: transpose, bare: copyBlocks, engines: 1},
	{name: "Alltoall of 1 KB, 1,024 ranks, two engines", ranks: 1024, in: megabyte, out: megabyte, call: transpose, bare: copyBlocks, engines: 2},
	{name: "Send and Recv of 1 MB, 1,024 ranks in pairs", ranks: 1024, in: megabyte, out: megabyte, call: sendToNext, bare: copyToNext, engines: 1},
	{name: "Sendrecv of 1 MB, 1,024 ranks in a ring", ranks: 1024, in: megabyte, out: megabyte, call: shift, bare: copyEach, engines: 1},
	{name: "binomial Allreduce of 8 KB by messages, 1,024 ranks", ranks: 1024, in: megabyte / 128, out: megabyte / 128, call: reduce, bare: upAndDown, message: true, engines: 1},
	{name: "binomial Allreduce of 8 KB by messages, 16,384 ranks", ranks: 16384, in: megabyte / 128, out: megabyte / 128, call: reduce, bare: upAndDown, message: true, engines: 1},
	{name: "Alltoall of 1 KB, 1,024 ranks, slices shared", ranks: 1024, in: megabyte, out: megabyte, call: transpose, loop: shiftAll, engines: 1},
	{name: "Alltoall of 1 KB, 4,096 ranks, slices shared", ranks: 4096, in: 4 * megabyte, out: 4 * megabyte, call: transpose, loop: shiftAll, engines: 1},
}

// megabyte is the number of doubles in 2^20 bytes.
const megabyte = 1 << 17

func broadcast(r *mpivirt.Rank, _, out []float64) error { return mpivirt.Bcast(r.World(), out, 0) }

// copyFirst copies the slice of rank 0 to all others.
func copyFirst(_, out [][]float64) {
	for _, to := range out[1:] {
		copy(to, out[0])
	}
}

func reduce(r *mpivirt.Rank, in, out []float64) error {
	return mpivirt.Allreduce(r.World(), in, out, mpivirt.Sum[float64]())
}

// sumAndCopy adds all vectors and gives each rank the sum.
func sumAndCopy(in, out [][]float64) {
	sum := out[0]
	copy(sum, in[0])
	for _, vector := range in[1:] {
		for i, x := range vector[:len(sum)] {
			sum[i] += x
		}
	}
	copyFirst(in, out)
}

// upAndDown sums the vectors up a binomial tree, branch by branch, and copies the sum down.
func upAndDown(in, out [][]float64) {
	var up, down func(rank, span int)
	up = func(rank, span int) {
		mine := in[rank]
		for distance := 1; distance < span; distance *= 2 {
			up(rank+distance, distance)
			theirs := out[rank+distance]
			if distance == 1 { // a leaf
				theirs = in[rank+1]
			}
			sum := out[rank][:len(mine)]
			for i, x := range theirs[:len(sum)] {
				sum[i] = mine[i] + x
			}
			mine = sum
		}
	}
	down = func(rank, span int) {
		for distance := span / 2; distance > 0; distance /= 2 {
			copy(out[rank+distance], out[rank])
		}
		for distance := 1; distance < span; distance *= 2 {
			down(rank+distance, distance)
		}
	}
	up(0, len(in))
	down(0, len(in))
}

func gather(r *mpivirt.Rank, in, out []float64) error { return mpivirt.Allgather(r.World(), in, out) }

// concatenate gathers the blocks in the slice of rank 0 and copies it to all others.
func concatenate(in, out [][]float64) {
	for i, block := range in {
		copy(out[0][i*len(block):], block)
	}
	copyFirst(in, out)
}

func transpose(r *mpivirt.Rank, in, out []float64) error { return mpivirt.Alltoall(r.World(), in, out) }

// copyBlocks copies as many bytes as every rank gets, in pieces of 1 KB: the runtime has a
// faster way for pieces of 1 MB.
func copyBlocks(in, out [][]float64) {
	const block = megabyte / 1024
	for i, to := range out {
		for at := 0; at < len(to); at += block {
			copy(to[at:at+block], in[i][at:])
		}
	}
}

// copyEach copies as many bytes as every rank gets, in one piece each.
func copyEach(in, out [][]float64) {
	for i := range out {
		copy(out[i], in[i])
	}
}

func sendToNext(r *mpivirt.Rank, in, out []float64) error {
	if r.Rank()%2 == 0 {
		return mpivirt.Send(r.World(), in, r.Rank()+1, 0)
	}
	_, err := mpivirt.Recv(r.World(), out, r.Rank()-1, 0)
	return err
}

func copyToNext(in, out [][]float64) {
	for i := 0; i < len(in); i += 2 {
		copy(out[i+1], in[i])
	}
}

func shift(r *mpivirt.Rank, in, out []float64) error {
	next, previous := (r.Rank()+1)%r.Size(), (r.Rank()+r.Size()-1)%r.Size()
	_, err := mpivirt.Sendrecv(r.World(), in, next, 0, out, previous, 0)
	return err
}

// shiftAll exchanges blocks with all other ranks, one after the other.
func shiftAll(r *mpivirt.Rank, in, out []float64) error {
	block := len(in) / r.Size()
	for distance := range r.Size() {
		to, from := (r.Rank()+distance)%r.Size(), (r.Rank()+r.Size()-distance)%r.Size()
		if _, err := mpivirt.Sendrecv(r.World(), in[to*block:][:block], to, 0, out[from*block:][:block], from, 0); err != nil {
			return err
		}
	}
	return nil
}

// exchanged is the cost of an exchange: wall times in seconds, and bytes.
type exchanged struct {
	Wall, Bare     float64
	Program, Taken float64
}

// messageGoal is the time of a rank in a binomial allreduce by messages, in microseconds.
const messageGoal = 3

// exchangeTrips is the number of repetitions of an exchange, of which the median counts. Beside a
// loop, which takes long and would add to the memory, there is one.
const exchangeTrips = 5

// run simulates an exchange, and carries the bare copies out in turns with it,
// on the same slices.
func (e *exchange) run() (x exchanged, err error) {
	machine, err := free()
	if err != nil {
		return x, err
	}
	target, err := machine.Target(int64(e.ranks))
	if err != nil {
		return x, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ins, outs := make([][]float64, e.ranks), make([][]float64, e.ranks)
	var walls, bares []float64
	watch := &stopwatch{}
	trips := exchangeTrips
	if e.loop != nil {
		trips = 1
	}
	main := func(r *mpivirt.Rank) error {
		e.allocate(r.Rank(), ins, outs)
		in, out := ins[r.Rank()], outs[r.Rank()]
		for range trips {
			if err := watch.time(r, in, out, e.calls); err != nil {
				return err
			}
			if r.Rank() == 0 {
				walls = append(walls, watch.read()/float64(e.times()))
				runtime.ReadMemStats(&after)
			}
			if e.loop != nil {
				if err := watch.time(r, in, out, e.loop); err != nil {
					return err
				}
			}
			if r.Rank() > 0 {
				continue
			}
			if e.loop == nil {
				watch.began = time.Now()
				e.bare(ins, outs)
				watch.ended = time.Now()
			}
			bares = append(bares, watch.read())
		}
		return nil
	}
	c := mpivirt.Config{
		Target: target, Transports: sync.NewInProcess(e.engines), Program: mpivirt.Program{Name: e.name, Forms: []mpivirt.Form{mpivirt.Main(main)}},
	}
	if e.message {
		c.Collectives = mpivirt.Message
		c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: collectives.Binomial}
	}
	s, err := mpivirt.New(c)
	if err != nil {
		return x, err
	}
	defer s.Close()
	_, err = s.Run()
	x.Wall, x.Bare = middle(walls), middle(bares)
	x.Program, x.Taken = float64(8*e.ranks*(e.in+e.out)), float64(after.Sys-before.Sys)
	return x, err
}

// times returns how often an exchange is called in turn. A message of a short vector is over so soon
// that the barriers about one call would take a part of its time.
func (e *exchange) times() int {
	if e.message {
		return 20
	}
	return 1
}

// calls calls the exchange that often.
func (e *exchange) calls(r *mpivirt.Rank, in, out []float64) error {
	for range e.times() {
		if err := e.call(r, in, out); err != nil {
			return err
		}
	}
	return nil
}

// allocate makes the slices of a rank, and touches them.
func (e *exchange) allocate(rank int, ins, outs [][]float64) {
	if e.loop != nil && rank > 0 {
		ins[rank], outs[rank] = ins[0], outs[0]
		return
	}
	ins[rank], outs[rank] = make([]float64, e.in), make([]float64, e.out)
	touch(ins[rank])
	touch(outs[rank])
}

// stopwatch takes the time from the first rank's call of an operation to the last one's return.
type stopwatch struct {
	lock         stdsync.Mutex // ranks of several engines use it
	began, ended time.Time
}

// time calls an operation between two barriers.
func (w *stopwatch) time(r *mpivirt.Rank, in, out []float64, call func(r *mpivirt.Rank, in, out []float64) error) error {
	if err := r.World().Barrier(); err != nil {
		return err
	}
	w.start()
	if err := call(r, in, out); err != nil {
		return err
	}
	w.stop()
	return r.World().Barrier()
}

// start begins the time, unless another rank has.
func (w *stopwatch) start() {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.began.IsZero() {
		w.began = time.Now()
	}
}

// stop ends the time, until another rank does.
func (w *stopwatch) stop() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.ended = time.Now()
}

// read returns the time in seconds, and sets the watch back.
func (w *stopwatch) read() float64 {
	d := w.ended.Sub(w.began).Seconds()
	w.began = time.Time{}
	return d
}

// touch writes to all pages of a slice.
func touch(data []float64) {
	for i := range data {
		data[i] = float64(i)
	}
}

// payloads measures each exchange in a process of its own.
func (m *meter) payloads() ([]row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var rows []row
	for i := range exchanges {
		name, ranks := exchanges[i].name, float64(exchanges[i].ranks)
		output, err := exec.Command(self, "-exchange", name).Output()
		if err != nil {
			return rows, fmt.Errorf("%s: %w", name, err)
		}
		var x exchanged
		if err := json.Unmarshal(output, &x); err != nil {
			return rows, err
		}
		if exchanges[i].loop != nil {
			rows = append(rows,
				row{name + ", time of a rank", x.Wall / ranks * 1e6, "us", x.Bare / ranks * 1e6, "a loop of Sendrecv", 1, true},
				row{name + ", memory of a rank", x.Taken / ranks, "B", 15e6 / 1024, "that loop before", 1, true})
			continue
		}
		timeBound, memoryBound := 1.2, 1.1
		if exchanges[i].message { // of short vectors, beside which a message and a rank take long and much
			timeBound, memoryBound = 0, 0
			rows = append(rows, row{name + ", time of a rank", x.Wall / ranks * 1e6, "us", messageGoal, "the goal", 1, true})
		}
		rows = append(rows,
			row{name + ", time of a rank", x.Wall / ranks * 1e6, "us", x.Bare / ranks * 1e6, "bare copies", timeBound, true},
			row{name + ", memory", x.Taken, "B", x.Program, "the program's slices", memoryBound, true})
	}
	return rows, nil
}

// printExchange measures an exchange in this process and prints it as JSON.
func printExchange(name string) error {
	i := slices.IndexFunc(exchanges, func(e exchange) bool { return e.name == name })
	if i < 0 {
		return fmt.Errorf("there is no exchange %q", name)
	}
	x, err := exchanges[i].run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(x)
}
