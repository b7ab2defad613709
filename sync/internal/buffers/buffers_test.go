package buffers

import "testing"

// A pool keeps long buffers for requests of more than half their length, up to a bound, and
// gives each out once at a time.
func TestLongBuffersAreKept(t *testing.T) {
	const long = 1<<largest + 1
	made, released := 0, 0
	p := NewPool(func(size int) []byte { made++; return make([]byte, size) }, func([]byte) { released++ })
	first, second := p.Get(long+100), p.Get(long)
	p.Put(first[:1])
	p.Put(second)
	if got := p.Get(long); &got[0] != &second[0] || len(got) != long {
		t.Errorf("a request of %d bytes gets %d bytes, not the buffer of that length", long, len(got))
	}
	if got := p.Get(long); &got[0] != &first[0] || len(got) != long {
		t.Errorf("a further one gets %d bytes, not the longer buffer", len(got))
	}
	if p.Get(long); made != 3 {
		t.Errorf("%d buffers are made where 3 are in use", made)
	}
	p.Put(make([]byte, 2*long))
	if p.Get(long); made != 4 || released > 0 {
		t.Errorf("%d buffers made, %d released; a buffer of twice the length must be left for longer requests", made, released)
	}
	p.Drain()
	if released != 1 {
		t.Errorf("%d buffers released at the end, 1 was free", released)
	}
}

// What a pool keeps of long buffers is bounded.
func TestLongBuffersKeptAreBounded(t *testing.T) {
	const long = 1<<largest + 1
	released := 0
	p := NewPool(func(size int) []byte { return make([]byte, size) }, func([]byte) { released++ })
	var all [][]byte
	for range 5 {
		all = append(all, p.Get(long))
	}
	for _, buffer := range all {
		p.Put(buffer)
	}
	if kept := len(all) - released; kept*long > retained || (kept+1)*long <= retained {
		t.Errorf("%d of %d buffers of %d bytes are kept", kept, len(all), long)
	}
}
