//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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

	system  bool // it needs copies of libraries of the system
	foreign bool // gigarank has not linked it, so that its constructors are held back in the copy
}

// copies are a program, which is the first, and its own libraries.
type copies []*object

// copyLibraries has the text of a program need copies of its own libraries, and has all of these need
// copies of the library of Fortran, "" if no file needs it, and of foreign libraries. The copies are in a directory, "" without
// copies, that may go once the program is loaded. A later image shares no variables with other images.
func copyLibraries(path string, program []byte, fortran string, libraries []needed, later bool) (dir string, err error) {
	var all copies
	if _, err := all.add(path, "", program); err != nil {
		return "", err
	}
	if fortran != "" {
		where, err := pathOf(path, fortran)
		if err == nil {
			err = all.need(fortran, copyOf(where))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", fortran, err)
		}
	}
	for _, l := range libraries {
		if l.own {
			for _, o := range all {
				o.foreign = o.foreign || o.path == l.path
			}
			continue
		}
		text, err := os.ReadFile(l.path)
		if err == nil {
			err = toolchain.ForgetUnique(text)
		}
		if err == nil {
			err = all.need(l.name, held(text))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", l.name, err)
		}
	}
	if later || len(libraries) > 0 {
		for _, o := range all {
			if err := toolchain.ForgetUnique(o.text); err != nil {
				return "", err
			}
		}
	}
	if len(all) == 1 {
		return "", nil
	}
	if dir, err = os.MkdirTemp("", "gr-"); err != nil {
		return "", err
	}
	if err := all.haveRoom(len(dir)); err != nil {
		switch {
		case slices.ContainsFunc(all[1:], func(o *object) bool { return o.system || o.foreign }):
			return dir, err
		case later:
			return dir, fmt.Errorf("%w; or use --engines 1", err)
		}
		return dir, nil // the first image may have the libraries themselves
	}
	for _, o := range all {
		if err := o.rename(dir); err != nil {
			return dir, err
		}
	}
	for _, o := range all[1:] {
		write := holding(o.text)
		if o.foreign {
			write = held(o.text)
		}
		fd, err := inMemory(o.name, write)
		if err != nil {
			return dir, err
		}
		link := filepath.Join(dir, o.name)
		if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", fd), link); err != nil {
			return dir, err
		}
		originals.Store(link, o.path)
	}
	return dir, nil
}

// copied counts the copies, whose names differ.
var copied atomic.Int64

// originals has the paths of the libraries that were copied, by the paths of the copies.
var originals sync.Map

// original returns the path of the file that an object was copied from, which is its own if it was not.
func original(path string) string {
	if from, is := originals.Load(path); is {
		return from.(string)
	}
	return path
}

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

// rename writes the names of copies and the name of their directory into an object.
func (o *object) rename(dir string) error {
	if len(o.uses) == 0 {
		return nil
	}
	path, err := o.room(len(dir))
	if err != nil {
		return err
	}
	copy(o.text[path:], dir+"\x00")
	for place, used := range o.uses {
		copy(o.text[place:], used.name)
	}
	return nil
}

// haveRoom returns an error if an object has no room for a path of a length.
func (all copies) haveRoom(length int) error {
	for _, o := range all {
		if len(o.uses) > 0 {
			if _, err := o.room(length); err != nil {
				return err
			}
		}
	}
	return nil
}

// room returns the place of a path of libraries in an object that is so long at least.
func (o *object) room(length int) (place uint64, err error) {
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		places, err := o.names(tag)
		if err != nil {
			return 0, err
		}
		for _, place := range places {
			if len(o.nameAt(place)) >= length {
				return place, nil
			}
		}
	}
	return 0, fmt.Errorf("%s has no room for the path of its libraries' copies: link it by gigarank cc, cxx or fc", o.path)
}
