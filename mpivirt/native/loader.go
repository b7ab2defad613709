//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// The loader itself lists where it finds the libraries of an object, in a process of its own. In this process it would have to
// load them, and libstdc++ with them: outside a program libstdc++ is bound to the C library, and stays, so that the
// runtime would not hear of the threads that it starts.

// listed holds the libraries that objects need, directly or not, by path and stamp of an object.
var listed sync.Map // of string to map[string]string, by name the path

// pathOf returns the path at which the loader finds a library that an object needs, directly or not.
func pathOf(object, library string) (string, error) {
	if strings.Contains(library, "/") {
		return library, nil
	}
	stamp, err := stampOf(object)
	if err != nil {
		return "", err
	}
	key := object + "\x00" + stamp
	all, found := listed.Load(key)
	if !found {
		if all, err = list(object); err != nil {
			return "", err
		}
		listed.Store(key, all)
	}
	if path := all.(map[string]string)[library]; path != "" {
		return path, nil
	}
	return "", errNotFound
}

var errNotFound = errors.New("the loader does not find it: install it, or name its directory in LD_LIBRARY_PATH")

// loader returns the path of the loader of this process.
var loader = sync.OnceValues(func() (string, error) {
	self, err := elf.Open("/proc/self/exe")
	if err != nil {
		return "", err
	}
	defer func() { _ = self.Close() }()
	for _, p := range self.Progs {
		if p.Type == elf.PT_INTERP {
			name := make([]byte, p.Filesz)
			if _, err := p.ReadAt(name, 0); err != nil {
				return "", err
			}
			return string(bytes.TrimRight(name, "\x00")), nil
		}
	}
	return "", errors.New("gigarank is linked statically, and loads no programs")
})

// list asks the loader where it finds the libraries of an object. The loader prints a line for each, such as
// "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f0000000000)", and fails if it does not find one.
func list(object string) (map[string]string, error) {
	by, err := loader()
	if err != nil {
		return nil, err
	}
	text, err := exec.Command(by, "--list", object).Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return nil, fmt.Errorf("the loader does not list the libraries of %s: %w", object, err)
	}
	all := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, where, found := strings.Cut(strings.TrimSpace(lines.Text()), " => ")
		if i := strings.LastIndex(where, " (0x"); found && i > 0 {
			all[name] = where[:i]
		}
	}
	if failed := (*exec.ExitError)(nil); len(all) == 0 && errors.As(err, &failed) {
		return nil, fmt.Errorf("the loader does not list the libraries of %s: %w: %s", object, err, bytes.TrimSpace(failed.Stderr))
	}
	return all, nil
}
