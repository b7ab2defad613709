package library

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gigarank/internal/spelling"
)

//go:embed tables/*.yaml
var files embed.FS

// Names returns the names of the libraries that come with the program, sorted.
func Names() []string {
	entries, err := files.ReadDir("tables")
	if err != nil {
		panic("library: no tables: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

// tables has what was read of each library that was asked for.
var tables sync.Map // by name: func() (*Table, error)

// Named returns the table of a library that comes with the program. The error for another name lists
// the libraries.
func Named(name string) (*Table, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("there is no library %q: %s", name, spelling.Choices(name, Names()))
	}
	read, _ := tables.LoadOrStore(name, sync.OnceValues(func() (*Table, error) {
		text, err := files.ReadFile("tables/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		return Parse(name, text)
	}))
	return read.(func() (*Table, error))()
}

// Load returns a library by its name, or else the table in a file by its path. It reads files through
// read only, such as os.ReadFile.
func Load(nameOrPath string, read func(path string) ([]byte, error)) (*Table, error) {
	if slices.Contains(Names(), nameOrPath) {
		return Named(nameOrPath)
	}
	text, err := read(nameOrPath)
	if err == nil {
		return Parse(nameOrPath, text)
	}
	remedy := spelling.Suggest(nameOrPath, Names(), "the libraries are "+strings.Join(Names(), ", "))
	return nil, errors.Join(fmt.Errorf("library %q is neither the name of a library nor a file that can be read: %s", nameOrPath, remedy), err)
}
