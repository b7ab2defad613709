package transporttest

import (
	"encoding/binary"
	"fmt"
	"runtime"
	stdsync "sync"
	"sync/atomic"
	"testing"
	"time"

	"gigarank/sync"
)

// patience is how long a test waits for a message before it fails.
const patience = 20 * time.Second

// Test runs the suite for several numbers of engines. open returns the ends in this
// process of a new transport between k engines, or none if it cannot make one. Test
// closes them before it opens others. Short tests have few engines: a race between two engines does not need
// seven, whose pairs are three quarters of all.
func Test(t *testing.T, open func(k int) []sync.Transport) {
	engines := []int{1, 2, 3, 4, 7}
	if testing.Short() {
		engines = []int{1, 2, 3}
	}
	for _, k := range engines {
		t.Run(fmt.Sprintf("%d engines", k), func(t *testing.T) { testEngines(t, open, k) })
	}
}

func testEngines(t *testing.T, open func(k int) []sync.Transport, k int) {
	for _, test := range []struct {
		name string
		body func(*end) error
	}{
		{"identity", func(e *end) error { return testIdentity(e, k) }},
		{"buffers", testBuffers},
		{"wait and wake", testWait},
		{"order", testOrder},
		{"sending does not wait", testSendDoesNotWait},
		{"large messages", testLarge},
		{"large behind small", testOvertaking},
		{"tails", testTails},
		{"crossing tails", testCrossingTails},
		{"owner of a tail", testOwner},
		{"tails not received", testTailsNotReceived},
		{"nothing left", testNothingLeft},
		{"wrong destination", testWrongDestination},
		{"nothing received", testNothingReceived},
		{"nothing left", testNothingLeft},
		{"some received", testSomeReceived},
		{"nothing left", testNothingLeft},
		{"endpoints null", func(e *end) error { return testEndpoints(e, sync.Null) }},
		{"endpoints conditional", func(e *end) error { return testEndpoints(e, sync.Conditional) }},
		{"endpoints hybrid", func(e *end) error { return testEndpoints(e, sync.Hybrid) }},
		{"deadlock", testDeadlock},
		{"failure null", func(e *end) error { return testFailure(e, sync.Null) }},
		{"failure conditional", func(e *end) error { return testFailure(e, sync.Conditional) }},
		{"failure hybrid", func(e *end) error { return testFailure(e, sync.Hybrid) }},
		{"stop", testStop},
		{"endpoints after a stop", func(e *end) error { return testEndpoints(e, sync.Hybrid) }},
	} {
		// All processes run the subtests in one order: none may leave one out.
		var group stdsync.WaitGroup
		for _, transport := range open(k) {
			e := &end{transport}
			group.Go(func() {
				err := test.body(e)
				if err == nil {
					err = e.Close()
				}
				if err != nil {
					t.Errorf("%s: engine %d of %d: %v", test.name, e.Rank(), k, err)
				}
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
	}
}

// end is a transport with the methods that the tests share.
type end struct{ sync.Transport }

// next waits for a message.
func (e *end) next() (int, []byte, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		src, bytes, err := e.Receive()
		if bytes != nil || err != nil {
			return src, bytes, err
		}
		if err := e.Wait(time.Second); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("no message within %v", patience)
}

// compose returns message number i to dst: n bytes that no other message has, at least
// 8.
func (e *end) compose(dst, i, n int) []byte {
	bytes := e.Alloc(n)
	fill(bytes, e.Rank(), dst, i)
	return bytes
}

// period is the number of bytes after which the contents of a message repeat.
const period = 256

func fill(bytes []byte, src, dst, i int) {
	for at := range bytes[:min(len(bytes), period)] {
		bytes[at] = byte(at*31 + src*7 + dst*3 + i)
	}
	for done := period; done < len(bytes); done *= 2 {
		copy(bytes[done:], bytes[:done])
	}
	binary.LittleEndian.PutUint32(bytes, uint32(i))
	binary.LittleEndian.PutUint32(bytes[4:], uint32(src))
}

// expect checks that bytes are message number i from src, of n bytes. It compares the first two periods with the
// message, and all later ones with the second, and so takes no memory for large messages.
func (e *end) expect(bytes []byte, src, i, n int) error {
	var memory [2 * period]byte
	want := memory[:min(n, len(memory))]
	fill(want, src, e.Rank(), i)
	if len(bytes) != n || string(bytes[:len(want)]) != string(want) ||
		n > len(want) && string(bytes[len(want):]) != string(bytes[period:n-period]) {
		return fmt.Errorf("message %d of engine %d, of %d bytes, is not what was sent (%d bytes)", i, src, len(bytes), n)
	}
	return nil
}

func testIdentity(e *end, k int) error {
	if e.Size() != k || e.Rank() < 0 || e.Rank() >= k {
		return fmt.Errorf("it is engine %d of %d; want %d", e.Rank(), e.Size(), k)
	}
	return nil
}

// Buffers that are owned at the same time are different memory, of the length
// asked for.
func testBuffers(e *end) error {
	for range 3 {
		var owned [][]byte
		for i, n := range []int{0, 1, 255, 256, 257, 4096, 100_000, 1, 256} {
			bytes := e.Alloc(n)
			if len(bytes) != n {
				return fmt.Errorf("Alloc(%d) has length %d", n, len(bytes))
			}
			for at := range bytes {
				bytes[at] = byte(i)
			}
			owned = append(owned, bytes)
		}
		for i, bytes := range owned {
			for _, b := range bytes {
				if b != byte(i) {
					return fmt.Errorf("buffer %d shares memory with another", i)
				}
			}
			e.Free(bytes)
		}
	}
	return nil
}

// Messages of each pair, an end and itself included, come whole and in order.
func testOrder(e *end) error {
	sizes := []int{8, 9, 100, 1000, 5000, 70_000, 12, 300_000, 8}
	const count = 90
	for i := range count {
		for dst := range e.Size() {
			// A message may be shorter than its buffer.
			n := sizes[i%len(sizes)]
			bytes := e.Alloc(n + i)[:n]
			fill(bytes, e.Rank(), dst, i)
			if err := e.Send(dst, bytes); err != nil {
				return err
			}
		}
	}
	came := make([]int, e.Size())
	for range count * e.Size() {
		src, bytes, err := e.next()
		if err != nil {
			return err
		}
		if err := e.expect(bytes, src, came[src], sizes[came[src]%len(sizes)]); err != nil {
			return err
		}
		came[src]++
		e.Free(bytes)
	}
	return nil
}

// Everyone sends much to its neighbour before anyone receives.
func testSendDoesNotWait(e *end) error {
	const count, n = 2000, 3000
	next, before := (e.Rank()+1)%e.Size(), (e.Rank()+e.Size()-1)%e.Size()
	for i := range count {
		if err := e.Send(next, e.compose(next, i, n)); err != nil {
			return err
		}
	}
	for i := range count {
		src, bytes, err := e.next()
		if err != nil {
			return err
		}
		if err := e.expect(bytes, before, i, n); err != nil || src != before {
			return fmt.Errorf("from engine %d: %w", src, err)
		}
		e.Free(bytes)
	}
	return nil
}

func testLarge(e *end) error {
	const n = 3 << 20
	next, before := (e.Rank()+1)%e.Size(), (e.Rank()+e.Size()-1)%e.Size()
	if err := e.Send(next, e.compose(next, 0, n)); err != nil {
		return err
	}
	_, bytes, err := e.next()
	if err != nil {
		return err
	}
	defer e.Free(bytes)
	return e.expect(bytes, before, 0, n)
}

// Small messages do not overtake a large one of the same pair.
func testOvertaking(e *end) error {
	size := func(i int) int { return []int{2 << 20, 8}[i%2] }
	const count = 10
	for i := range count {
		for dst := range e.Size() {
			if err := e.Send(dst, e.compose(dst, i, size(i))); err != nil {
				return err
			}
		}
	}
	came := make([]int, e.Size())
	for range count * e.Size() {
		src, bytes, err := e.next()
		if err != nil {
			return err
		}
		if err := e.expect(bytes, src, came[src], size(came[src])); err != nil {
			return err
		}
		came[src]++
		e.Free(bytes)
	}
	return nil
}

// sendTail sends message number i to dst, n bytes of which all but the first 16 are its tail, with
// a number. It returns the tail. Transports that send none send the message whole.
func (e *end) sendTail(dst, i, n int, number int32) (tail []byte, err error) {
	tails, ok := e.Transport.(sync.TailSender)
	if !ok {
		return nil, e.Send(dst, e.compose(dst, i, n))
	}
	whole := e.compose(dst, i, n)
	tail = e.Alloc(n - 16) // memory that Go does not manage
	copy(tail, whole[16:])
	return tail, tails.SendTail(dst, whole[:16], sync.Tail{Bytes: tail, Number: number})
}

// Messages with tails come whole and in order, among others. Once their receivers have answered,
// they may change.
func testTails(e *end) error {
	sizes := []int{17, 100_003, 24, 3 << 20, 4096, 40_001}
	const count = 24
	var lent [][]byte
	for i := range count {
		for dst := range e.Size() {
			n := sizes[i%len(sizes)]
			if i%3 == 2 {
				if err := e.Send(dst, e.compose(dst, i, n)); err != nil {
					return err
				}
				continue
			}
			tail, err := e.sendTail(dst, i, n, int32(len(lent)))
			if err != nil {
				return err
			}
			lent = append(lent, tail)
		}
	}
	came := make([]int, e.Size())
	for range (count + 1) * e.Size() {
		src, bytes, err := e.next()
		if err != nil {
			return err
		}
		if i := came[src]; i < count {
			err = e.expect(bytes, src, i, sizes[i%len(sizes)])
		} else {
			err = e.expect(bytes, src, i, 8)
		}
		if err != nil {
			return err
		}
		e.Free(bytes)
		if came[src]++; came[src] == count { // all from src: tell it
			if err := e.Send(src, e.compose(src, count, 8)); err != nil {
				return err
			}
		}
	}
	tails, ok := e.Transport.(sync.TailSender)
	if !ok {
		return nil
	}
	for number := range lent {
		if err := tails.AwaitTail(int32(number)); err != nil {
			return err
		}
	}
	if tails.HoldsTails() {
		return fmt.Errorf("tails are read still, after all have been awaited")
	}
	for _, tail := range lent {
		clear(tail)
		e.Free(tail)
	}
	return nil
}

// Two engines send tails to each other, and a second one each before they await the first. The second,
// which nobody has received yet, is not waited for.
func testCrossingTails(e *end) error {
	other := e.Rank() ^ 1
	if other >= e.Size() {
		other = e.Rank()
	}
	const bytes = 3 << 20
	take := func(i, n int) error {
		src, message, err := e.next()
		if err != nil {
			return err
		}
		defer e.Free(message)
		return e.expect(message, src, i, n)
	}
	for i := range 20 {
		if _, err := e.sendTail(other, 3*i, bytes, 1); err != nil {
			return err
		}
		if err := take(3*i, bytes); err != nil {
			return err
		}
		if err := e.Send(other, e.compose(other, 3*i+1, 8)); err != nil { // the answer to the first
			return err
		}
		if _, err := e.sendTail(other, 3*i+2, bytes, 2); err != nil {
			return err
		}
		if err := take(3*i+1, 8); err != nil {
			return err
		}
		if tails, ok := e.Transport.(sync.TailSender); ok {
			if err := tails.AwaitTail(1); err != nil {
				return err
			}
		}
		if err := take(3*i+2, bytes); err != nil {
			return err
		}
	}
	return nil
}

// The owner of a tail stays as long as the transport may read the tail, and no longer.
func testOwner(e *end) error {
	tails, ok := e.Transport.(sync.TailSender)
	if !ok {
		return nil
	}
	const bytes = 3 << 20
	dst := (e.Rank() + 1) % e.Size()
	var gone atomic.Bool
	send := func() error {
		owner := new([64]byte)
		runtime.AddCleanup(owner, func(int) { gone.Store(true) }, 0)
		whole := e.compose(dst, 0, bytes)
		tail := e.Alloc(bytes - 16)
		copy(tail, whole[16:])
		return tails.SendTail(dst, whole[:16], sync.Tail{Bytes: tail, Owner: owner, Number: 7})
	}
	if err := send(); err != nil {
		return err
	}
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if early := gone.Load(); early && tails.HoldsTails() {
		return fmt.Errorf("the owner of a tail is gone, and the tail may be read still")
	}
	const answer = 8
	for range 2 {
		src, message, err := e.next()
		if err == nil && len(message) != answer {
			if err = e.expect(message, src, 0, bytes); err == nil {
				err = e.Send(src, e.Alloc(answer))
			}
		}
		if err != nil {
			return err
		}
		e.Free(message)
	}
	if err := tails.AwaitTail(7); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); !gone.Load(); runtime.GC() {
		if time.Now().After(deadline) {
			return fmt.Errorf("the owner of a tail stays after the tail has been awaited")
		}
	}
	return nil
}

// Everyone sends messages with tails to everyone, receives one of them, and closes.
func testTailsNotReceived(e *end) error {
	for i, n := range []int{17, 5000, 3 << 20, 70_000} {
		for dst := range e.Size() {
			if _, err := e.sendTail(dst, i, n, int32(i)); err != nil {
				return err
			}
		}
	}
	_, bytes, err := e.next()
	e.Free(bytes)
	return err
}

func testWrongDestination(e *end) error {
	for _, dst := range []int{-1, e.Size()} {
		if err := e.Send(dst, e.Alloc(8)); err == nil {
			return fmt.Errorf("a message to engine %d of %d is sent", dst, e.Size())
		}
	}
	return nil
}

// Everyone sends to everyone, small and large, and closes at once.
func testNothingReceived(e *end) error {
	for i, n := range []int{8, 5000, 3 << 20, 70_000} {
		for dst := range e.Size() {
			if err := e.Send(dst, e.compose(dst, i, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The same, and some of it is received.
func testSomeReceived(e *end) error {
	if err := testNothingReceived(e); err != nil {
		return err
	}
	for range e.Rank() + 1 {
		_, bytes, err := e.next()
		if err != nil {
			return err
		}
		e.Free(bytes)
	}
	return nil
}

// Each pair exchanges one message and no more: messages sent before over another
// transport do not come.
func testNothingLeft(e *end) error {
	const i, n = 77, 24
	for dst := range e.Size() {
		if err := e.Send(dst, e.compose(dst, i, n)); err != nil {
			return err
		}
	}
	came := make([]bool, e.Size())
	for range e.Size() {
		src, bytes, err := e.next()
		if err != nil {
			return err
		}
		if err := e.expect(bytes, src, i, n); err != nil || came[src] {
			return fmt.Errorf("from engine %d, a second time %t: %w", src, came[src], err)
		}
		came[src] = true
		e.Free(bytes)
	}
	return nil
}

// A Wait ends after its limit; a Wake before or during it ends it earlier.
func testWait(e *end) error {
	start := time.Now()
	if err := e.Wait(time.Millisecond); err != nil {
		return err
	}
	e.Wake()
	if err := e.Wait(patience); err != nil {
		return err
	}
	woken := make(chan struct{})
	go func() {
		e.Wake()
		close(woken)
	}()
	err := e.Wait(patience)
	<-woken
	if took := time.Since(start); took > patience/2 {
		return fmt.Errorf("waits of a millisecond took %v", took)
	}
	return err
}
