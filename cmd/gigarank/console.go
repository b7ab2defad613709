package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	stdsync "sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"gigarank/study"
)

// console is the command's access to the host: output and what it reads there. Several
// goroutines may use its writers.
type console struct {
	arguments      []string // the command line, with the name of the command
	stdout, stderr *writer
	printed        *writer // what ranks print, if it goes elsewhere than stdout
	getenv         func(string) string
	root           fs.FS                             // of the file system, for /proc and /sys
	readFile       func(path string) ([]byte, error) // an input
	stopped        interrupted                       // by a signal while readInput read
	now            func() time.Time
	cores          int
	log            *zap.Logger
	finished       bool // the error at the end has been printed
}

func newConsole() *console {
	c := &console{
		stdout: &writer{to: os.Stdout},
		stderr: &writer{to: os.Stderr},
		getenv: os.Getenv,
		root:   os.DirFS("/"),
		now:    time.Now,
		cores:  runtime.GOMAXPROCS(0),
		log:    zap.NewNop(),
	}
	c.readFile = c.readInput
	return c
}

// readInput reads an input of a command that catches no signals. A signal that comes meanwhile
// ends the command.
func (c *console) readInput(path string) ([]byte, error) {
	s := catchSignals(endingSignals...)
	defer s.release()
	text, err := s.readFile(path)
	if s.reason.reason != "" {
		c.stopped = s.reason
	}
	return text, err
}

// verbose sends the log to standard error.
func (c *console) verbose() {
	config := zap.NewDevelopmentEncoderConfig()
	config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	config.ConsoleSeparator = "  "
	c.log = zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(config), c.stderr, zapcore.DebugLevel))
}

// mute drops all output from now on, except errors of this host and what its ranks print: over
// MPI only host 0 writes of the run.
func (c *console) mute() {
	c.printed = c.stdout
	c.stdout = &writer{to: io.Discard}
	c.log = zap.NewNop()
}

// finish prints the error that the command ends with, once, unless another host prints
// it.
func (c *console) finish(err error) {
	var e ended
	if errors.As(err, &e); err == nil || e.silent || c.finished {
		return
	}
	c.finished = true
	_, _ = fmt.Fprintf(c.stderr, "gigarank: %v\n", err)
}

// writer serialises writes and keeps the first error, so that callers need not check
// each line.
type writer struct {
	lock stdsync.Mutex
	to   io.Writer
	err  error
}

// Write implements io.Writer. It writes control characters, which names and messages may hold,
// as Go does in quotes: none reaches a terminal.
func (w *writer) Write(p []byte) (int, error) {
	safe := study.Printable(p)
	n, err := raw{w}.Write(safe)
	if n == len(safe) {
		n = len(p)
	}
	return min(n, len(p)), err
}

// raw writes to a writer as it is, for the output of ranks.
type raw struct{ writer *writer }

func (r raw) Write(p []byte) (int, error) {
	w := r.writer
	w.lock.Lock()
	defer w.lock.Unlock()
	n, err := w.to.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Sync implements zapcore.WriteSyncer.
func (w *writer) Sync() error { return nil }

// failure returns the first error of a write. A reader that has read enough is none: see
// outliveReader.
func (w *writer) failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.err == nil || errors.Is(w.err, unix.EPIPE) {
		return nil
	}
	return fmt.Errorf("cannot write standard output: %w", w.err)
}

// divert sends output to another writer until restore is called.
func (w *writer) divert(to io.Writer) (restore func()) {
	w.lock.Lock()
	defer w.lock.Unlock()
	before := w.to
	w.to = to
	return func() {
		w.lock.Lock()
		defer w.lock.Unlock()
		w.to = before
	}
}
