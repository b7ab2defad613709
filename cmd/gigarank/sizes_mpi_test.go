//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The sizes of messages and of what ranks hand to collectives are those worked out by hand on any number of host
// processes.
func TestSizesOnHosts(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	check := func(hosts int, run, sent, handed string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "result.json")
		arguments := append(strings.Fields("run "+run), "--stats", "--json", path)
		if output, err := underMPI(t, hosts, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%d host processes, %s: %v\n%s", hosts, run, err, output)
		}
		d := readDocument(t, path)
		if sizesIn(d.Sent) != sent || sizesIn(d.Handed) != handed || d.Hosts != hosts {
			t.Errorf("%d host processes, %s: on %d hosts\nsent %q, handed to collectives %q; want\n%q and %q", hosts, run, d.Hosts, sizesIn(d.Sent), sizesIn(d.Handed), sent, handed)
		}
	}
	for i, c := range sizeCases {
		check(2+i%2, c.run, c.sent, c.handed)
	}
	program := buildAllSends(t)
	for hosts := 1; hosts <= 3; hosts++ {
		sent, handed := allSendsSizes(7)
		check(hosts, fmt.Sprint(program, " --ranks 7"), sent, handed)
	}
}
