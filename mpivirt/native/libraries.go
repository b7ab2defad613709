//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"gigarank/mpivirt/native/toolchain"
)

// The loader takes a library that it has loaded wherever one of that name is needed. For an image
// of a program to have the variables of the program's own libraries for itself, it needs copies of
// them by other names, which are as long and lie in a directory that is there while the image is
// loaded.

// object is a program or one of its own libraries.
type object struct {
	path string
	text []byte
	name string             // of the copy
	uses map[uint64]*object // own libraries, by the place of their names in the text
}

// copies are a program, which is the first, and its own libraries.
type copies []*object

// copyLibraries has the text of a program need copies of its own libraries. They are in a
// directory, empty if it has none, that may go once the program is loaded.
func copyLibraries(path string, program []byte) (dir string, err error) {
	var all copies
	if _, err := all.add(path, "", program); err != nil || len(all) == 1 {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "gr-"); err != nil {
		return "", err
	}
	for _, o := range all {
		if err := o.rename(dir); err != nil {
			return dir, err
		}
	}
	for _, o := range all[1:] {
		if err := toolchain.ForgetUnique(o.text); err != nil {
			return dir, err
		}
	}
	for _, o := range all[1:] {
		fd, err := inMemory(o.name, holding(o.text))
		if err != nil {
			return dir, err
		}
		if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", fd), filepath.Join(dir, o.name)); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// copied counts the copies, whose names differ.
var copied atomic.Int64

// add adds an object that is needed under a name, and the own libraries that it needs.
func (all *copies) add(path, name string, text []byte) (*object, error) {
	for _, o := range *all {
		if o.path == path {
			return o, nil
		}
	}
	o := &object{path: path, text: text, uses: map[uint64]*object{}}
	if name != "" {
		number := strconv.FormatInt(copied.Add(1), 36)
		o.name = strings.Repeat("0", max(0, len(name)-len(number))) + number
	}
	*all = append(*all, o)
	needed, err := o.names(elf.DT_NEEDED)
	if err != nil {
		return nil, err
	}
	for _, place := range needed {
		name := o.nameAt(place)
		library, err := o.find(name)
		if library == "" || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		text, err := os.ReadFile(library)
		if err != nil {
			return nil, err
		}
		used, err := all.add(library, name, text)
		if err != nil {
			return nil, err
		}
		if len(used.name) != len(name) {
			return nil, fmt.Errorf("%s is needed by names of different length", library)
		}
		o.uses[place] = used
	}
	return o, nil
}

// names returns the places of the names that entries of a tag in the dynamic section have.
func (o *object) names(tag elf.DynTag) (places []uint64, err error) {
	file, err := elf.NewFile(bytes.NewReader(o.text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	strings := file.Section(".dynstr")
	offsets, err := file.DynValue(tag)
	if err != nil || strings == nil {
		return nil, err
	}
	for _, offset := range offsets {
		places = append(places, strings.Offset+offset)
	}
	return places, nil
}

func (o *object) nameAt(place uint64) string {
	name, _, _ := bytes.Cut(o.text[place:], []byte{0})
	return string(name)
}

// find returns the path of an own library by its name, "" for one of the system or of gigarank.
func (o *object) find(name string) (path string, err error) {
	file, err := elf.NewFile(bytes.NewReader(o.text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.path, err)
	}
	return toolchain.OwnLibrary(o.path, file, name)
}

// rename writes the names of copies into an object, and that of their directory.
func (o *object) rename(dir string) error {
	if len(o.uses) == 0 {
		return nil
	}
	for place, used := range o.uses {
		copy(o.text[place:], used.name)
	}
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		places, err := o.names(tag)
		if err != nil {
			return err
		}
		for _, place := range places {
			if room := len(o.nameAt(place)); room >= len(dir) {
				copy(o.text[place:], dir+"\x00")
				return nil
			}
		}
	}
	return fmt.Errorf("%s has no room for the path of its libraries' copies: link it by gigarank cc, cxx or fc", o.path)
}
