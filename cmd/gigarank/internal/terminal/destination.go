package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// StandardOutput is the destination of --json that stands for standard output.
const StandardOutput = "-"

// MakeDirectory makes a directory, and those above it that are not there.
func MakeDirectory(name string) error {
	if err := os.MkdirAll(name, 0o777); err != nil {
		return fmt.Errorf("%s cannot be made: %w; name a directory in one that exists and is writable", name, err)
	}
	return nil
}

// StandardNames are names of standard output in the file system. What they lead to is never
// replaced: the shell may have opened it as a file.
var StandardNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// destination is where a document goes.
type destination struct {
	path string
	// Replaces: the document gets the name as a file of its own. Otherwise path is a device
	// or a pipe, or a link to one, and is written to.
	Replaces bool
	mode     fs.FileMode // of the file that is replaced, 0 if there is none
}

// NewDestination looks a name up. A symbolic link is replaced, not followed, unless it leads
// to a device or a pipe, as those of the shell do.
func NewDestination(name string) (destination, error) {
	d := destination{path: name, Replaces: true}
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		behind, err := os.Stat(name)
		if err != nil || behind.Mode().IsRegular() && !strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/proc/") {
			return d, nil
		}
		info = behind
		d.Replaces = false
	}
	switch {
	case info.IsDir():
		return d, fmt.Errorf("%s is a directory: name a file in it", name)
	case !info.Mode().IsRegular():
		d.Replaces = false
	default:
		d.mode = info.Mode().Perm()
	}
	return d, nil
}

// check checks whether a document can be written. It does not open a pipe, which would wait
// for its reader.
func (d destination) check() error {
	exists := !d.Replaces || d.mode != 0
	if exists && (unix.Access(d.path, unix.W_OK) != nil || d.Replaces && d.mode&0o222 == 0) {
		return fmt.Errorf("%s is protected against writing: make it writable or name another file", d.path)
	}
	if !d.Replaces {
		return nil
	}
	f, err := os.OpenFile(temporary(d.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		var in *fs.PathError // of a name that the user has not given
		if errors.As(err, &in) {
			err = in.Err
		}
		return fmt.Errorf("%s cannot be written: %w; name a file in a directory that exists and is writable", d.path, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// Write writes a document. A file gets the name as a whole or not at all, and keeps the mode
// of the file before.
func (d destination) Write(text []byte) error {
	if d.Replaces {
		return ReplaceFile(d.path, text, d.mode)
	}
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// ReplaceFile writes a file under another name in the same directory and renames it. mode is
// its mode, or 0 for the usual one of new files.
func ReplaceFile(path string, text []byte, mode fs.FileMode) error {
	name := temporary(path)
	err := writeFile(name, text, mode)
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("the result was not written: %w", err)
	}
	return nil
}

// writeFile writes a file and waits until it is on the disk.
func writeFile(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// temporary returns the name under which a file is written before it is renamed.
func temporary(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
}

// WriteTo writes a text to the destination of a flag: none, standard output, or a file.
func WriteTo(c *Console, name string, text []byte) error {
	switch name {
	case "":
		return nil
	case StandardOutput:
		_, err := c.Stdout.Write(text)
		return err
	}
	to, err := NewDestination(name)
	if err != nil {
		return err
	}
	return to.Write(text)
}

// CheckWritable checks before a run whether its document can be written.
func CheckWritable(name string) error {
	if name == "" || name == StandardOutput {
		return nil
	}
	to, err := NewDestination(name)
	if err != nil {
		return err
	}
	return to.check()
}
