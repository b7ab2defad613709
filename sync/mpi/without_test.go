//go:build !mpi

package mpi

import (
	"strings"
	"testing"
)

// A build without MPI says how to get one with it.
func TestWithout(t *testing.T) {
	job, err := Open(UsualLimit)
	if job != nil || err == nil || !strings.Contains(err.Error(), "-tags mpi") {
		t.Errorf("Open() = %v, %v", job, err)
	}
	if Available() || Version() != "" {
		t.Errorf("Available() = %v, Version() = %q", Available(), Version())
	}
}
