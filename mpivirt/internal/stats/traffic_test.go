package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"gigarank/vtime"
)

// Classes of bandwidths are those of exact arithmetic, whatever is counted where.
func TestTrafficAddsUp(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var whole Traffic
	var parts [3]Traffic
	counts := map[int]uint64{}
	var between uint64
	for range 5000 {
		bytes, took := draw.Int64N(1<<draw.IntN(50)+1), vtime.Duration(draw.Int64N(1<<draw.IntN(60)+1))
		across := draw.IntN(2) == 0
		whole.Note(bytes, took, across)
		parts[draw.IntN(len(parts))].Note(bytes, took, across)
		if bytes == 0 || took == 0 {
			continue
		}
		exact := new(big.Int).Quo(new(big.Int).Mul(big.NewInt(bytes), big.NewInt(1e12)), big.NewInt(int64(took)))
		if exact.Cmp(big.NewInt(math.MaxInt64)) > 0 {
			exact.SetInt64(math.MaxInt64)
		}
		counts[exact.BitLen()]++
		if across {
			between += uint64(bytes)
		}
	}
	var merged Traffic
	for i := range parts {
		var read Traffic
		b := append(parts[i].append(nil), 7)
		r := reader{b}
		if read.read(&r); len(r.b) != 1 {
			t.Fatalf("%d bytes are left", len(r.b))
		}
		merged.Merge(&read)
	}
	if !reflect.DeepEqual(merged.Speeds(), whole.Speeds()) || merged.Between() != whole.Between() || whole.Between() != between {
		t.Errorf("%v and %d, want %v and %d", merged.Speeds(), merged.Between(), whole.Speeds(), between)
	}
	for _, class := range whole.Speeds() {
		at := big.NewInt(class.Low).BitLen()
		if class.Low == 0 {
			at = 0
		}
		if class.Count != counts[at] {
			t.Errorf("%d messages from %d B/s on, want %d", class.Count, class.Low, counts[at])
		}
		delete(counts, at)
	}
	if len(counts) > 0 {
		t.Errorf("classes %v are missing", counts)
	}
}
