package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"gigarank/sync/mpi"
)

// Version returns the version of the module, or else the commit that the binary was
// built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "(devel)", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	return commit + modified
}

// Build returns the version of the running executable, as exact as results need it.
func Build() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the executable is unknown: %w", err)
	}
	return buildOf(Version(), path)
}

// buildOf adds the beginning of the executable's SHA-256 to a version that does not
// name one state of the code. go run knows no version, and a tree that was changed
// after its commit can hold anything.
func buildOf(version, executable string) (string, error) {
	exact := !strings.HasPrefix(version, "(") && !strings.HasSuffix(version, "+dirty") && !strings.HasSuffix(version, "+modified")
	if exact {
		return version, nil
	}
	digest, err := DigestOf(executable)
	if err != nil {
		return "", fmt.Errorf("version %s names no state of the code, and the executable cannot be read to identify it: %w: make it readable, or build from a commit", version, err)
	}
	return version + " " + digest[:12], nil
}

// DigestOf returns the SHA-256 of a file in hexadecimal.
func DigestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}

func MPISupport() string {
	if !mpi.Available() {
		return "no MPI"
	}
	return mpi.Version()
}
