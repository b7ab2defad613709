package trace

import (
	"fmt"
	"io"
	"strings"
)

// fieldNames are the names of fields, as the recorder in C has them.
var fieldNames = [fields]string{
	fieldForm: "Form", fieldCPU: "CPU", fieldWall: "Wall", fieldComm: "Comm", fieldPeer: "Peer", fieldTag: "Tag", fieldBytes: "Bytes",
	fieldSource: "Source", fieldSourceTag: "SourceTag", fieldRoom: "Room", fieldGotSource: "GotSource", fieldGotTag: "GotTag", fieldGotBytes: "GotBytes",
	fieldMessage: "Message", fieldRequest: "Request", fieldTimes: "Times", fieldRoot: "Root", fieldVector: "Vector", fieldElement: "Element",
	fieldDatatype: "Datatype", fieldTraits: "Traits", fieldColor: "Color", fieldKey: "Key", fieldMade: "Made", fieldContext: "Context", fieldTook: "Took",
	fieldGiven: "Given", fieldTaken: "Taken", fieldToken: "Token", fieldRemoteToken: "RemoteToken",
	fieldRequests: "Requests", fieldCompleted: "Completed", fieldCounts: "Counts", fieldInCounts: "InCounts", fieldOutCounts: "OutCounts", fieldGroup: "Group",
	fieldSendPeers: "SendPeers", fieldSendTags: "SendTags", fieldSendBytes: "SendBytes",
	fieldReceivePeers: "ReceivePeers", fieldReceiveTags: "ReceiveTags", fieldReceiveRooms: "ReceiveRooms", fieldMatched: "Matched", fieldName: "Name",
}

// WriteLayouts writes what an encoder in C has of the format: numbers of functions (FUNCTION_Send), fields (FIELD_Peer), bits of forms and traits, the class of
// each function, the fields of each class.
func WriteLayouts(w io.Writer) error {
	var b strings.Builder
	b.WriteString("enum {\n")
	number := func(name string, v any) { fmt.Fprintf(&b, "\t%s = %d,\n", name, v) }
	for _, f := range Functions() {
		name := strings.ReplaceAll(strings.TrimPrefix(f.String(), "MPI_"), " ", "_")
		number("FUNCTION_"+name, f)
	}
	for f, name := range fieldNames {
		number("FIELD_"+name, f)
	}
	for _, c := range []struct {
		name  string
		value any
	}{
		{"FORM_NONBLOCKING", Nonblocking}, {"FORM_FAILED", Failed}, {"FORM_MISSED", Missed}, {"FORM_PERSISTENT", Persistent}, {"FORM_UNSIZED", Unsized},
		{"TRAIT_DATA", Data}, {"TRAIT_OPERATOR", Operator}, {"TRAIT_COMMUTATIVE", Commutative},
		{"RANK_ANY_SOURCE", AnySource}, {"RANK_PROC_NULL", ProcNull}, {"TAG_ANY", AnyTag}, {"COLOR_UNDEFINED", Undefined}, {"ROOT", Root},
		{"CLASS_SEND", ClassSend}, {"CLASS_RECEIVE", ClassReceive}, {"CLASS_WAIT", ClassWait}, {"CLASS_COLLECTIVE", ClassCollective},
		{"SCALARS", scalars}, {"FIELDS", fields}, {"REPEATED", repeated}, {"BLOCK_BYTES", blockBytes}, {"MOST_BYTES", mostBytes}, {"VERSION", Version},
	} {
		number(c.name, c.value)
	}
	b.WriteString("};\nstatic const unsigned char class_of[256] = {")
	for _, f := range Functions() {
		fmt.Fprintf(&b, "[%d] = %d, ", f, f.Class())
	}
	b.WriteString("};\nstatic const struct { unsigned char n, field[16]; } layouts[] = {\n")
	for class, layout := range layouts {
		list := make([]string, len(layout))
		for i, f := range layout {
			list[i] = fmt.Sprint(uint8(f))
		}
		fmt.Fprintf(&b, "\t[%d] = {%d, {%s}},\n", class, len(layout), strings.Join(append(list, "0"), ", "))
	}
	b.WriteString("};\n")
	_, err := io.WriteString(w, b.String())
	return err
}
