//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"gigarank/mpivirt/native/toolchain"
)

// The library of Fortran keeps units and the state of random numbers in variables. Each image
// of a program has a copy of the library of its own, whose variables belong to the ranks as
// the variables of the program do, and whose constructors each rank calls.

// fortranLibrary returns the name of the library of Fortran that a program or one of its own
// libraries needs, "" if neither does.
func fortranLibrary(program string) string {
	for _, name := range toolchain.Libraries(program) {
		if strings.HasPrefix(name, "libgfortran.so.") {
			return name
		}
	}
	return ""
}

// need has objects need one copy of a library of the system in the place of the library. write puts it
// into a file. The name of the copy is as long as the name of the library.
func (all copies) need(library string, write func(f *os.File) error) error {
	fd, err := inMemory(library, write)
	if err != nil {
		return err
	}
	number, directory := fmt.Sprint(fd), "/dev/fd/"
	copied := directory + strings.Repeat("/", max(0, len(library)-len(directory)-len(number))) + number
	if len(copied) != len(library) {
		return fmt.Errorf("too many open files: %s is longer than its name", copied)
	}
	for _, o := range all {
		places, err := o.names(elf.DT_NEEDED)
		if err != nil {
			return err
		}
		for _, place := range places {
			if o.nameAt(place) == library {
				copy(o.text[place:], copied)
				o.system = true
			}
		}
	}
	return nil
}

// moved is added to the tags that the loader must not see. The runtime looks for them.
const moved = 0x60676900

// holdConstructors hides the constructors and destructors of a library from the loader.
func holdConstructors(library *os.File) error {
	file, err := elf.NewFile(library)
	if err != nil {
		return err
	}
	dynamic := file.Section(".dynamic")
	if dynamic == nil || file.Class != elf.ELFCLASS64 || file.ByteOrder != binary.LittleEndian {
		return errors.New("it is no library of this machine")
	}
	table, err := dynamic.Data()
	if err != nil {
		return err
	}
	for entries := table; len(entries) >= 16; entries = entries[16:] {
		switch tag := elf.DynTag(binary.LittleEndian.Uint64(entries)); tag {
		case elf.DT_INIT_ARRAY, elf.DT_INIT_ARRAYSZ, elf.DT_FINI_ARRAY, elf.DT_FINI_ARRAYSZ:
			binary.LittleEndian.PutUint64(entries, moved+uint64(tag))
		}
	}
	_, err = library.WriteAt(table, int64(dynamic.Offset))
	return err
}

// inMemory returns a file in memory that write has written. It stays open: the loader knows an
// image by its name.
func inMemory(name string, write func(f *os.File) error) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	return fd, errors.Join(write(f), f.Close())
}

// copyOf returns a function that copies a library, without its constructors and destructors, within the system.
func copyOf(path string) func(*os.File) error {
	return func(to *os.File) error {
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }()
		for {
			n, err := unix.Sendfile(int(to.Fd()), int(from.Fd()), nil, 1<<30)
			switch {
			case err != nil && !errors.Is(err, unix.EINTR):
				return err
			case err == nil && n == 0:
				return holdConstructors(to)
			}
		}
	}
}

// holding returns a function that writes a text into a file.
func holding(text []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(text)
		return err
	}
}

// held returns a function that writes the text of a library without its constructors and destructors.
func held(text []byte) func(*os.File) error {
	return func(f *os.File) error {
		if err := holding(text)(f); err != nil {
			return err
		}
		return holdConstructors(f)
	}
}
