package resource

import "testing"

// What docs/event-ranks.md says that a rank costs.
func TestSizesAsDocumented(t *testing.T) {
	if ProcessorBytes != 176 {
		t.Errorf("a processor takes %d bytes, the document says 176", ProcessorBytes)
	}
	if ArrivalBytes != 32 || OperationBytes != 56 {
		t.Errorf("an arrival takes %d bytes, an operation %d; forecasts rest on 32 and 56", ArrivalBytes, OperationBytes)
	}
}
