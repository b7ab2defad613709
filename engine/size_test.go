package engine

import (
	"reflect"
	"testing"
)

// Forecasts count the memory of an event.
func TestEventSize(t *testing.T) {
	if got := reflect.TypeFor[Event]().Size(); got != eventSize {
		t.Errorf("an event takes %d bytes, and %d are counted", got, eventSize)
	}
}
