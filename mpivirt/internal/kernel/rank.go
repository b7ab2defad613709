package kernel

import "fmt"

// Print gives text to the output of the simulation, which may wait for its reader as
// long as it likes.
func (k *Kernel) Print(format string, arguments []any) {
	if k.config.Output != nil {
		text := fmt.Sprintf(format, arguments...)
		k.printing.Store(true)
		defer k.printing.Store(false)
		k.config.Output(text)
	}
}
