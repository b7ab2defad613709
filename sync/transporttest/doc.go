// Package transporttest is the conformance suite of sync.Transport: any transport
// passes it.
//
// The suite is written for all ends at once, like an MPI program. Each test runs in
// every end of a new transport, and closes it. Ends in one process run on a goroutine
// each; a transport between processes calls [Test] in each of them. Tests leave
// messages behind, and the next test must not see them.
package transporttest
