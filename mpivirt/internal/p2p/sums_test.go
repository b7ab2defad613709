package p2p

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A receive that is over at once is counted as the general way counts it: its time is divided among the causes from the instants of the message.
func TestShortReceivesCountAsOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := func(of string, from vtime.Time) vtime.Time {
			return from + vtime.Time(rapid.IntRange(0, 4).Draw(t, of))*1000
		}
		sent, posted := instant("sent", 0), instant("posted", 0)
		left := instant("left", sent)
		arrival := instant("arrival", left)
		ended := instant("ended", max(posted, arrival))
		shared := vtime.Duration(rapid.IntRange(0, 1).Draw(t, "shared")) * arrival.Sub(left)
		key, bytesOf := stats.CallKey{Procedure: uint8(world.Recv), Context: world.WorldContext}, int64(rapid.IntRange(0, 100).Draw(t, "bytes"))
		count := func(receive func(m *Messages)) []byte {
			m := opened(t, 2)
			m.Explain(false)
			calls := &m.Partition.Summary.Calls
			calls.Open(0, 2, 2, false)
			m.Partition.Clock[0] = ended
			receive(m)
			calls.Settle(&stats.Activities{})
			return calls.Append(nil)
		}
		short := count(func(m *Messages) {
			index := m.messages.Take()
			msg := m.messages.At(index)
			msg.arrival, msg.bytes = arrival, bytesOf
			*m.why.origins.Open(index) = origin{sent: sent, left: left, from: left, shared: shared}
			m.sumReceive(0, world.Recv, world.WorldContext, index, posted)
		})
		general := count(func(m *Messages) {
			calls, times := &m.Partition.Summary.Calls, stats.Causes{}
			e := stats.Ending{Known: true, Ready: max(posted, arrival), Late: stats.LateSender, Other: sent, Left: left, Shared: shared}
			e.Split(posted, ended, &times)
			calls.Note(0, key, bytesOf, &times)
			phase := stats.DataReceiving
			if arrival > posted {
				phase = stats.WaitingPhase
			}
			calls.Phases().NoteOne(phase, ended.Sub(posted))
		})
		if !bytes.Equal(short, general) {
			t.Errorf("sent %v, left %v, arrives %v, posted %v, ends %v, shared %v: counts %x, want %x", sent, left, arrival, posted, ended, shared, short, general)
		}
	})
}
