package kernel

import "fmt"

// Print writes text to the output of the simulation. The output may block: the watchdog ignores
// that.
func (k *Kernel) Print(format string, arguments []any) {
	if k.config.Output != nil {
		text := fmt.Sprintf(format, arguments...)
		k.partition.Engine.AtRest(func() { k.config.Output(text) })
	}
}
