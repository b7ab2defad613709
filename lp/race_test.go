//go:build race

package lp

// grown is by how many bytes the stack of an LP that waits has grown: the race detector's frames are larger.
const grown = 2048
