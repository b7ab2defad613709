package sync

import (
	"fmt"
	"time"
)

// Transport moves whole messages between engines. Messages from one engine to another
// arrive once each, in the order of their sending. Messages of different pairs may
// arrive in any order.
//
// An end belongs to one goroutine; only Wake may be called from any.
type Transport interface {
	// Rank returns the number of this engine, from 0.
	Rank() int
	// Size returns the number of engines.
	Size() int
	// Alloc returns a buffer of length n with arbitrary contents. The caller
	// owns it until it gives it to Send or Free.
	Alloc(n int) []byte
	// Send sends a message, a buffer of Alloc cut to the wanted length, and takes
	// ownership of it, also when it fails. It never waits for the receiver.
	Send(dst int, message []byte) error
	// Receive returns a message that has come and its sender, or a nil message
	// when there is none now. The caller owns the message until Free.
	Receive() (src int, message []byte, err error)
	// Free gives back a buffer of Alloc or Receive.
	Free(message []byte)
	// Wait returns when a message may be there, after limit, or when Wake was called
	// since the last Wait. It may return earlier.
	Wait(limit time.Duration) error
	// Wake ends a Wait, or the next one when none is going on.
	Wake()
	// Leave tells the transport that this end does not Wait for a while, perhaps never
	// again: its engine's run is over.
	Leave()
	// Close ends the use of the transport. It returns when the messages sent no longer
	// need this end. Messages not received are dropped.
	Close() error
}

// TailSender is a Transport that sends the end of a message from where it lies, uncopied.
type TailSender interface {
	Transport
	// SendTail is Send for a message that goes on with tail. Its receiver gets both in one
	// piece. The bytes of the tail stay as they are until AwaitTail returns.
	SendTail(dst int, message []byte, tail Tail) error
	// AwaitTail returns when the transport no longer reads the tail with a number. Its receiver
	// must have received the message: then nothing that another engine does is waited for.
	AwaitTail(number int32) error
	// HoldsTails reports whether the transport may read a tail still.
	HoldsTails() bool
}

// Tail is the end of a message.
type Tail struct {
	Bytes  []byte // memory that Go does not manage
	Owner  any    // the value that holds that memory: the transport refers to it as long as it may read
	Number int32  // tells it from the other tails of its sender
}

// Lost reports that an engine's host process has stopped answering.
type Lost struct {
	Engine int           // the engine that is silent
	Host   string        // the host that it runs on, "" when unknown
	Silent time.Duration // wall time since it was last heard
	By     string        // the host that has noticed it, "" when unknown
}

// Error names the engine, its host, the host that hears nothing of it, and the logs to look at.
func (l *Lost) Error() string {
	host := l.Host
	if host == "" {
		host = "an unknown host"
	}
	by := ""
	if l.By != "" && l.By != l.Host {
		by = ", as " + l.By + " hears it"
	}
	return fmt.Sprintf("engine %d on %s has been silent for %.1f s%s: its host process was killed, ran out of memory or lost its network; see the job's log on that host",
		l.Engine, host, l.Silent.Seconds(), by)
}
