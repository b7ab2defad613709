//go:build !race

package lp

// grown is by how many bytes the stack of an LP that waits has grown.
const grown = 0
