// Package transporttest is the conformance suite of sync.Transport: any transport
// passes it.
//
// The suite is written for all ends at once, like an MPI program: each test runs
// in every end, on a goroutine of its own where the ends are in one process. A
// transport between processes calls [Test] in each of them. Between tests the
// ends flush what is on its way with a message to everybody, so that one set of
// ends serves all tests, and endpoints after one another.
package transporttest
