package p2p

import "unsafe"

// Sizes in bytes of the values that ranks hold for messages.
const (
	MailboxBytes = int(unsafe.Sizeof(Mailbox{}))
	RequestBytes = int(unsafe.Sizeof(request{}))
	MessageBytes = int(unsafe.Sizeof(message{}))
)

// SmallPayload is the greatest length in bytes of a content that needs no buffer besides its
// message.
const SmallPayload = smallPayload
