//go:build !cgo || !linux || !(amd64 || arm64)

package native

import (
	"errors"

	"gigarank/mpivirt/internal/kernel"
)

var errNoCgo = errors.New("this build has no native ranks: build gigarank with CGO_ENABLED=1 and a C compiler, on Linux on amd64 or arm64")

// Available returns why this build has no native ranks.
func Available() error { return errNoCgo }

// Open returns the error that this build has no native ranks.
func Open(string, []string, Options) (kernel.Form, error) { return nil, errNoCgo }
