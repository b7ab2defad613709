package training

import (
	"errors"
	"io/fs"
	"math/big"
	"strings"
	"testing"

	"gigarank/vtime"
)

// transformer returns the parameters of a decoder of l layers of h, with a vocabulary of v and sequences of s tokens: 12·h² + 13·h a layer, the
// embeddings of words and places, and the last normalisation (Radford and others, 2019).
func transformer(l, h, v, s int64) int64 { return l*(12*h*h+13*h) + (v+s)*h + 2*h }

// The parameters of models that come along are those that are published, to the last where the source has them so. Operations
// are compared with those of the source: 2 for each multiplication and addition.
func TestModelsHaveTheirPublishedSizes(t *testing.T) {
	for _, c := range []struct {
		name       string
		parameters int64
		operations float64 // to one per cent
	}{
		// torchvision.models.resnet50: 25,557,032 parameters, 4.09 GFLOPS (multiplications and additions).
		{"resnet-50", 25_557_032, 2 * 4.089e9},
		// BertForPreTraining of the published checkpoint: embeddings, 24 layers, pooler, heads. 2 operations for each parameter of the layers
		// and token, and attention; words of 80 places.
		{"bert-large", 336_226_108, 2*302e6*512 + 24*4*512*512*1024 + 2*80*1024*(30522+1024)},
		{"gpt2-xl", transformer(48, 1600, 50257, 1024), 2*1.5559e9*1024 + 48*4*1024*1024*1600},
		{"gpt3-1.3b", transformer(24, 2048, 50257, 2048), 2*1.3109e9*2048 + 24*4*2048*2048*2048},
		{"gpt3-6.7b", transformer(32, 4096, 50257, 2048), 2*6.648e9*2048 + 32*4*2048*2048*4096},
		{"gpt3-13b", transformer(40, 5120, 50257, 2048), 2*12.84e9*2048 + 40*4*2048*2048*5120},
		{"gpt3-175b", transformer(96, 12288, 50257, 2048), 2*174.57e9*2048 + 96*4*2048*2048*12288},
	} {
		m := Named(c.name)
		if m == nil || m.Name != c.name || m.Description == "" || m.Source == "" || m.Sample == "" {
			t.Errorf("%s: %+v", c.name, m)
			continue
		}
		if got := m.Parameters(); got != c.parameters {
			t.Errorf("%s has %d parameters, want %d", c.name, got, c.parameters)
		}
		if got := float64(m.Operations()); got < 0.99*c.operations || got > 1.01*c.operations {
			t.Errorf("%s takes %.4g operations, want %.4g", c.name, got, c.operations)
		}
	}
	if n := len(Names()); n != 7 {
		t.Errorf("%d models come along", n)
	}
}

// The sizes that the papers round to.
func TestModelsHaveTheNamesOfTheirSizes(t *testing.T) {
	for name, billions := range map[string]float64{"gpt2-xl": 1.56, "gpt3-1.3b": 1.3, "gpt3-6.7b": 6.7, "gpt3-13b": 13, "gpt3-175b": 175} {
		if got := float64(Named(name).Parameters()) / 1e9; got < 0.98*billions || got > 1.02*billions {
			t.Errorf("%s has %.4g billion parameters", name, got)
		}
	}
}

func parse(t *testing.T, text string) *Model {
	t.Helper()
	m, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBlocksRepeat(t *testing.T) {
	m := parse(t, "name: n\nlayers:\n  - {name: a, parameters: 1k, flops: 2k}\n  - repeat: 2\n    layers:\n      - {name: b, parameters: 3, flops: 4, repeat: 2}\n      - {name: c, parameters: 5, flops: 6}\n")
	want := []Layer{{1000, 2000}, {3, 4}, {3, 4}, {5, 6}, {3, 4}, {3, 4}, {5, 6}}
	if len(m.Layers) != len(want) {
		t.Fatalf("%v, want %v", m.Layers, want)
	}
	for i, l := range m.Layers {
		if l != want[i] {
			t.Errorf("%v, want %v", m.Layers, want)
		}
	}
}

// All faults of a file are named at once, by line.
func TestFaultsOfModels(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"the file is empty"}},
		{"name: n\n", []string{"layers: is missing"}},
		{"layers: 3\nauthor: me\n", []string{":1: name: is missing", ":1: layers: is the value \"3\", not a list", ":2: author: is unknown"}},
		{"name: n\nlayers: []\n", []string{":2: layers: is an empty list"}},
		{"name: n\nlayers:\n  - {name: a, parameters: -1, flops: x}\n  - {parameters: 1}\n  - {layers: [{parameters: 1, flops: 1}], flops: 3}\n  - {parameters: 1, flops: 1, flop: 1, repeat: 0}\n",
			[]string{":3: layers[0].parameters: \"-1\"", ":3: layers[0].flops: \"x\"", ":4: layers[1].flops: is missing", ":5: layers[2].flops: is given for a block",
				":6: layers[3].flop: is unknown: did you mean flops?", ":6: layers[3].repeat: is 0"}},
		{"name: n\nlayers:\n  - {parameters: 0, flops: 1}\n", []string{"no layer has parameters"}},
		{"name: n\nlayers:\n  - {repeat: 1M, layers: [{repeat: 1M, parameters: 1, flops: 1}]}\n", []string{"has 1000000 times 1000000 layers"}},
		{"name: n\nlayers:\n  - {repeat: 1000, parameters: 1e14, flops: 1}\n", []string{"parameters together"}},
		{"name: n\nlayers:\n  - {repeat: 1000, parameters: 1, flops: 1e17}\n", []string{"operations for a sample"}},
	} {
		_, err := Parse("test.yaml", []byte(c.text))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want it to say %q", c.text, err, want)
			}
		}
	}
	none := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := Load("bert-lerge", none); err == nil || !strings.Contains(err.Error(), "did you mean bert-large?") {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := Load("m.yaml", func(string) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// GPT-2 XL as DistributedDataParallel cuts it in single precision, by hand: the last layers first. The first bucket is full with mlp.out of the last
// block, 10.2M parameters of 4 bytes: it has the two normalisations after that, too. Then each matrix of a block but attention.out has more than 25 MiB: mlp.in
// 41 MB, attention.out 10 MB with attention.qkv 31 MB, and so on.
func TestBucketsOfGPT2(t *testing.T) {
	p, err := NewPlan(Work{Model: Named("gpt2-xl"), Batch: 1, Speed: big.NewRat(1e15, 1), Memory: big.NewRat(1e12, 1), Element: 4, First: 1 << 20, Limit: 25 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const h = 1600
	want := []int64{4 * (2*h + 2*h + 4*h*h + h), 4 * (4*h*h + 4*h), 4 * (2*h + h*h + h + 3*h*h + 3*h), 4 * (2*h + 4*h*h + h), 4 * (4*h*h + 4*h)}
	for i, w := range want {
		if got := p.Buckets[i].Bytes; got != w {
			t.Errorf("bucket %d has %d bytes, want %d", i, got, w)
		}
	}
	if n := len(p.Buckets); n != 3*48+1 {
		t.Errorf("%d buckets, want three a block and the embedding", n)
	}
	// 28 bytes a parameter at 1 TB/s.
	if want := vtime.Duration(28 * Named("gpt2-xl").Parameters()); p.Optimizer != want {
		t.Errorf("the optimiser takes %v, want %v", p.Optimizer, want)
	}
}

// Times are to the nearest picosecond, however large the numbers.
func TestTimesAreExact(t *testing.T) {
	for _, c := range []struct {
		a, b, c int64
		rate    *big.Rat
		want    vtime.Duration
	}{
		{1, 1, 1, big.NewRat(1e12, 1), 1},
		{1, 1, 1, big.NewRat(3e12, 1), 0},
		{1, 1, 1, big.NewRat(2e12, 1), 1},
		{2, 1e18, 1e5, big.NewRat(1e18, 1), 200_000 * vtime.Second},
		{1, 1e18, 1, big.NewRat(3e12, 1), 333_333_333_333_333_333},
	} {
		if got, err := timeOf(c.a, c.b, c.c, c.rate); err != nil || got != c.want {
			t.Errorf("%d·%d·%d at %v a second take %v (%v), want %v", c.a, c.b, c.c, c.rate, got, err, c.want)
		}
	}
	if _, err := timeOf(2, 1e18, 1<<31, big.NewRat(1, 1)); err == nil {
		t.Error("a step of ages is accepted")
	}
}
