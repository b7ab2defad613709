package p2p

import (
	"unsafe"

	"gigarank/vtime"
)

// Sizes in bytes of the values that ranks hold for messages.
const (
	MailboxBytes = int(unsafe.Sizeof(Mailbox{}))
	RequestBytes = int(unsafe.Sizeof(request{}))
	MessageBytes = int(unsafe.Sizeof(message{}))

	// Where statistics are on, in addition.
	OriginBytes = int(unsafe.Sizeof(origin{}))      // of a message
	ReasonBytes = int(unsafe.Sizeof(reason{}))      // of a request
	WaitBytes   = int(unsafe.Sizeof(vtime.Time(0))) // of an LP
)

// SmallPayload is the greatest length in bytes of a content that needs no buffer besides its
// message.
const SmallPayload = smallPayload
