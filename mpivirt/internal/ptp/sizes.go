package ptp

import "unsafe"

// Bytes of the values that ranks hold for messages.
const (
	MailboxBytes   = int(unsafe.Sizeof(Mailbox{}))
	RequestBytes   = int(unsafe.Sizeof(request{}))
	MessageBytes   = int(unsafe.Sizeof(message{}))
	ProcessorBytes = int(unsafe.Sizeof(processor{}))
	ArrivalBytes   = int(unsafe.Sizeof(Arrival{}))
	OperationBytes = int(unsafe.Sizeof(Operation{}))
)

// SmallPayload is the greatest length of a content that needs no buffer besides its message.
const SmallPayload = smallPayload
