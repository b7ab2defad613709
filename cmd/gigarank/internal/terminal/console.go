package terminal

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

// Console is the command's access to the host: its streams, inputs and clock. Several
// goroutines may use its writers.
type Console struct {
	Arguments      []string                 // the command line, with the name of the command
	Restarted      string                   // what the process has told before it was restarted, "" for none
	Restart        func(state string) error // has the command begin anew in this process and tells it a state; nil if it cannot
	Stdout, Stderr *Writer
	Printed        *Writer // the ranks' output, if it goes elsewhere than stdout
	Getenv         func(string) string
	Root           fs.FS                             // of the file system, for /proc and /sys
	ReadFile       func(path string) ([]byte, error) // an input; set by those who catch signals
	Stopped        Interrupted                       // by a signal while ReadFile read
	Now            func() time.Time
	Cores          int
	Log            *zap.Logger
	finished       bool // the error at the end has been printed
}

// New returns a console on the streams of the process. It has no way to read inputs yet: see ReadFile.
func New() *Console {
	return &Console{
		Stdout: &Writer{to: os.Stdout},
		Stderr: &Writer{to: os.Stderr},
		Getenv: os.Getenv,
		Root:   os.DirFS("/"),
		Now:    time.Now,
		Cores:  runtime.GOMAXPROCS(0),
		Log:    zap.NewNop(),
	}
}

// Verbose sends the log to standard error.
func (c *Console) Verbose() {
	config := zap.NewDevelopmentEncoderConfig()
	config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	config.ConsoleSeparator = "  "
	c.Log = zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(config), c.Stderr, zapcore.DebugLevel))
}

// Mute drops all output from now on, except errors of this host and the output of its ranks: over
// MPI only host 0 reports the run.
func (c *Console) Mute() {
	c.Printed = c.Stdout
	c.Stdout = &Writer{to: io.Discard}
	c.Log = zap.NewNop()
}

// Finish prints the error that the command ends with, once, unless another host prints
// it.
func (c *Console) Finish(err error) {
	var e Ended
	if errors.As(err, &e); err == nil || e.Silent || c.finished {
		return
	}
	c.finished = true
	_, _ = fmt.Fprintf(c.Stderr, "gigarank: %v\n", err)
}

// NewWriter returns a writer to another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Writer serialises writes and keeps the first error, so that callers need not check
// each line.
type Writer struct {
	lock stdsync.Mutex
	to   io.Writer
	err  error
}

// Write implements io.Writer. It writes control characters, which names and messages may hold,
// as Go does in quotes: none reaches a terminal.
func (w *Writer) Write(p []byte) (int, error) {
	safe := study.Printable(p)
	n, err := raw{w}.Write(safe)
	if n == len(safe) {
		n = len(p)
	}
	return min(n, len(p)), err
}

// raw writes to a writer as it is, for the output of ranks.
type raw struct{ writer *Writer }

// Raw returns a writer of the output of ranks, which stays as it is.
func (w *Writer) Raw() io.Writer { return raw{w} }

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
func (w *Writer) Sync() error { return nil }

// Failure returns the first error of a write. A reader that has read enough is none: see
// OutliveReader.
func (w *Writer) Failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.err == nil || errors.Is(w.err, unix.EPIPE) {
		return nil
	}
	return fmt.Errorf("cannot write standard output: %w", w.err)
}

// divert sends output to another writer until restore is called.
func (w *Writer) divert(to io.Writer) (restore func()) {
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
