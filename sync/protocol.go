package sync

import "fmt"

// Protocol is a way to raise the EIT of an engine that starves.
type Protocol uint8

// The protocols; doc.go describes them.
const (
	Hybrid      Protocol = iota // null messages, accelerated by rounds; the default
	Null                        // null messages on demand; a round where they creep
	Conditional                 // rounds only
)

var protocolNames = [...]string{Hybrid: "hybrid", Null: "null", Conditional: "conditional"}

// String returns the name that ParseProtocol reads.
func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

// ParseProtocol reads the name of a protocol: null, conditional or hybrid.
func ParseProtocol(name string) (Protocol, error) {
	for p, n := range protocolNames {
		if n == name {
			return Protocol(p), nil
		}
	}
	return Hybrid, fmt.Errorf("%q is not a synchronisation protocol: use null, conditional or hybrid", name)
}
