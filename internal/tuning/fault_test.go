package tuning

import (
	"errors"
	"testing"

	"gigarank/mpivirt"
)

// An algorithm that does not serve a call is left out of a choice; a fault of gigarank ends the choice.
func TestFaultsEndTheChoice(t *testing.T) {
	if _, ok := serves(1, errors.New("two-proc goes with two members")); ok {
		t.Error("an algorithm that is refused serves")
	}
	if seconds, ok := serves(1, nil); seconds != 1 || !ok {
		t.Errorf("a simulation of 1 s gives %v, %t", seconds, ok)
	}
	fault := &mpivirt.Fault{Cause: "nil dereference"}
	defer func() {
		if got := recover(); got != fault {
			t.Errorf("the choice ends with %v", got)
		}
	}()
	serves(0, errors.Join(fault))
	t.Error("the choice goes on")
}
