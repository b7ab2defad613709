// Package transporttest is the conformance suite of sync.Transport: any transport
// passes it.
//
// The suite is written for all ends at once, like an MPI program: each test runs
// in every end of a new transport, on a goroutine of its own where the ends are
// in one process, and closes it. A transport between processes calls [Test] in
// each of them. Tests leave messages behind, of which the next one sees nothing.
package transporttest
