package host

import (
	"errors"
	"fmt"
	"time"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/sync"
)

// AgreeLimit is how long a host waits for the others before a run, and after one that
// ended well. abandonLimit is how long it waits after a failure.
const (
	AgreeLimit   = 60 * time.Second
	abandonLimit = 500 * time.Millisecond

	// rollCallLimit is how much longer than a stopped simulation takes a host waits for the
	// others after a signal. The launcher that has sent it kills soon after.
	rollCallLimit = 100 * time.Millisecond
)

// Settle makes all hosts agree on how a simulation has ended. The error has the code of
// all of them.
func Settle(h *Processes, o *Outcome) (all Report, err error) {
	if o.Refused() { // on all hosts, or one of them is lost
		h.Apart = OfThisHost(o.Err)
		return all, terminal.Ended{Cause: o.Err, Code: terminal.ExitCode(o.Err), Silent: h.Index != 0 && !h.Apart}
	}
	all = ReportOn(o.Err)
	all.Peak = peakResident()
	limit := AgreeLimit
	switch {
	case !o.stopped.IsZero():
		limit = max(hostsStopLimit-time.Since(o.stopped), 0) + rollCallLimit
	case o.Err != nil:
		limit = abandonLimit
	}
	agreed, err := h.Agree(all, limit)
	told := err == nil || h.knowLoss(err) // host 0 reports for this one
	switch {
	case err == nil:
		all = agreed
		if o.Err == nil && all.Signal != 0 {
			o.Err = terminal.InterruptedBy(all.Signal)
		}
	case o.Err == nil:
		o.Err = err
	default:
		o.Err = explainBy(o.Err, err)
	}
	h.Apart = h.Apart || o.hung // the engine may still use the transport
	if h.Index == 0 && h.present != nil && h.isolated() {
		o.Err = fmt.Errorf("%w; host process 0 on %s hears from %d of %d only: perhaps its own machine has lost the network", o.Err, machineName(), len(h.present), h.Size)
	}
	if o.Err != nil && all.Code == terminal.ExitDone {
		all.Code = terminal.ExitHost // the host that knows the cause is gone
	}
	if all.Code != terminal.ExitDone {
		err = terminal.Ended{Cause: o.Err, Code: all.Code, Silent: !h.Leads() && (!OfThisHost(o.Err) || told && h.knowLoss(o.Err))}
	}
	return all, err
}

// explainBy returns the error of a run whose hosts cannot agree on its end. A launcher sends
// all processes a signal when it has lost one: that one is the cause.
func explainBy(err, missing error) error {
	var signal terminal.Interrupted
	var silent missingHosts
	if errors.As(err, &signal) && errors.As(missing, &silent) {
		return fmt.Errorf("%w; %w: the launcher ends all when it has lost one", silent, err)
	}
	return err
}

// knowLoss reports whether an error is the loss of a host, of which all others know. It finds
// out who of them reports for all.
func (h *Processes) knowLoss(err error) bool {
	var lost *sync.Lost
	if !errors.As(err, &lost) {
		return false
	}
	h.callRoll()
	return true
}

// OfThisHost reports whether an error is a failure of this host that the others do not
// report.
func OfThisHost(err error) bool {
	var signal terminal.Interrupted
	return terminal.OwnCode(err) == terminal.ExitHost && !errors.As(err, &signal)
}
