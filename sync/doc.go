// Package sync keeps the engines of a run causally consistent: conservative
// synchronisation, over a small message transport.
package sync
