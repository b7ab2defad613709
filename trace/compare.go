package trace

import (
	"fmt"
	"maps"
	"slices"

	"gigarank/internal/spelling"
)

// excess returns how many messages more are sent than received: less than 0 if fewer are, even if all calls that may have taken effect
// are counted so that the difference is the least.
func (b *balance) excess() int64 {
	switch n := b.sent - b.received; {
	case n > 0:
		return max(n-b.mayReceived, 0)
	default:
		return min(n+b.maySent, 0)
	}
}

// compareMessages compares the sends of each pair with its receives.
func (x *check) compareMessages() {
	spare := map[message]int64{} // sends without a receive that names them, by receiver
	var list []message
	for m, b := range x.messages {
		if n := b.excess(); m.source != AnySource && n != 0 {
			if list = append(list, m); n > 0 {
				spare[message{comm: m.comm, source: AnySource, destination: m.destination}] += n
			}
		} else if m.source == AnySource && b.wild > 0 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, message.compare)
	for _, m := range list {
		b, where := x.messages[m], x.nameOf(m.comm)
		if m.source == AnySource {
			if n := spare[m]; n < b.wild || n > b.wild+b.mayWild {
				x.fault("%s: member %d has %s with wildcards on %s, and %s for them", x.file.Name, m.destination, spelling.Count(b.wild, "receive"), where, spelling.Count(n, "message"))
			}
			continue
		}
		any := x.messages[message{comm: m.comm, source: AnySource, destination: m.destination}]
		switch n := b.excess(); {
		case n < 0:
			x.fault("%s: member %d receives %s from member %d with tag %d that nobody sends on %s%s", x.file.Name, m.destination, spelling.Count(-n, "message"), m.source, m.tag, where, x.placesOf(m, list))
		case any == nil || any.wild+any.mayWild == 0:
			x.fault("%s: member %d sends %s to member %d with tag %d that nobody receives on %s%s", x.file.Name, m.source, spelling.Count(n, "message"), m.destination, m.tag, where, x.placesOf(m, list))
		}
	}
}

// placesOf names the last call with a message of which one side is missing, and the one on the other side that fits best but for its tag or its partner.
func (x *check) placesOf(m message, list []message) string {
	if len(x.faults) >= x.most {
		return "" // the fault is counted alone
	}
	receives := x.messages[m].excess() < 0
	text := ", the last by " + x.placeOf(m, receives)
	best, fits := message{}, 0
	for _, other := range list {
		if other.source == AnySource || other.comm != m.comm || (x.messages[other].excess() < 0) == receives {
			continue
		}
		n := 0
		for _, same := range []bool{other.source == m.source, other.destination == m.destination, other.tag == m.tag} {
			if same {
				n++
			}
		}
		if n > fits {
			best, fits = other, n
		}
	}
	if fits < 2 {
		return text
	}
	verb := "received"
	if receives {
		verb = "sent"
	}
	return fmt.Sprintf("%s; nearest to it is the message from member %d to member %d with tag %d that is only %s, the last by %s", text, best.source, best.destination, best.tag, verb, x.placeOf(best, !receives))
}

// placeOf names the last call that receives, or sends, a message.
func (x *check) placeOf(m message, receives bool) string {
	b := x.messages[m]
	if receives {
		return x.sideAt(m, true, b.lastReceive)
	}
	return x.sideAt(m, false, b.lastSend)
}

// sideAt names an operation of the task that receives, or sends, a message.
func (x *check) sideAt(m message, receives bool, operation int64) string {
	side, member := m.comm, m.source
	if receives {
		member = m.destination
	} else if remote, between := x.remote[m.comm]; between {
		side = remote
	}
	for p, number := range x.member {
		if p.comm == side && number == member {
			return x.placeAt(p.task, operation)
		}
	}
	return fmt.Sprintf("member %d", member)
}

// nearestRequest names the operation that has begun the request under way whose number is nearest to one; "" if none is under way.
func (x *check) nearestRequest(number int64) string {
	best, found := int64(0), false
	distance := func(n int64) uint64 { return uint64(max(n, number) - min(n, number)) }
	for n := range x.requests {
		if !found || distance(n) < distance(best) || distance(n) == distance(best) && n < best {
			best, found = n, true
		}
	}
	if !found || len(x.faults) >= x.most {
		return ""
	}
	return fmt.Sprintf("; nearest to it is request %d, which %s has begun", best, x.placeAt(x.cursor.Task(), x.requests[best].operation))
}

// compareCalls compares the collectives of the members of each communicator.
func (x *check) compareCalls() {
	members := map[commID][]int{}
	for p := range x.member {
		id := p.comm
		if remote, between := x.remote[id]; between {
			id = min(id, remote)
		}
		members[id] = append(members[id], p.task)
	}
	for _, id := range slices.Sorted(maps.Keys(x.calls)) {
		tasks := members[id]
		slices.Sort(tasks)
		var first []step // of the first task, once a fault needs them
		for _, task := range tasks[1:] {
			a, b := x.courseOn(id, tasks[0]), x.courseOn(id, task)
			if a.calls == b.calls && a.hash == b.hash {
				continue
			}
			if x.count++; len(x.faults) >= x.most {
				continue
			}
			if first == nil {
				first = x.stepsOn(id, tasks[0])
			}
			x.faults = append(x.faults, fmt.Sprintf("%s: %s", x.file.Name, x.firstDifference(id, tasks[0], first, task, x.stepsOn(id, task))))
		}
	}
}

// courseOn returns the course of a task's collectives on a communicator, which may have none.
func (x *check) courseOn(id commID, task int) course {
	if c := x.calls[id][task]; c != nil {
		return *c
	}
	return course{}
}

// step is a collective of a task: its operation, and the hash of the course up to it.
type step struct {
	hash      uint64
	operation int64
}

// stepsOn returns the collectives of a task on a communicator. It reads the task once more.
func (x *check) stepsOn(id commID, task int) []step {
	again := newCheck(x.file, 0)
	again.blocks, again.second, again.remote, again.member = x.blocks, true, x.remote, x.member
	again.watches, again.watched = true, id
	if err := again.read(task, again.counts); err != nil {
		return nil // the check has ended with the error before
	}
	return again.steps
}

// firstDifference tells the first collective on a communicator in which two tasks differ. It names the operations of both, or the last one of the task that
// has no further one.
func (x *check) firstDifference(id commID, a int, ofA []step, b int, ofB []step) string {
	i := 0
	for i < min(len(ofA), len(ofB)) && ofA[i].hash == ofB[i].hash {
		i++
	}
	text := fmt.Sprintf("tasks %d and %d call %d and %s on %s; ", a, b, len(ofA), spelling.Count(len(ofB), "collective"), x.nameOf(id))
	switch {
	case i == len(ofA) && i == len(ofB): // they cannot be read once more
		return text + "they differ"
	case i < min(len(ofA), len(ofB)):
		return text + fmt.Sprintf("collective %d is another one, or has another root, length or type: %s, and %s", i, x.placeAt(a, ofA[i].operation), x.placeAt(b, ofB[i].operation))
	case i == len(ofA):
		a, ofA, b, ofB = b, ofB, a, ofA
	}
	text += fmt.Sprintf("collective %d, %s, is missing in task %d", i, x.placeAt(a, ofA[i].operation), b)
	if i == 0 {
		return text
	}
	return text + "; nearest to it is the last one there, " + x.placeAt(b, ofB[i-1].operation)
}

// placeAt names an operation of a task: its function and its place.
func (x *check) placeAt(task int, operation int64) string {
	cursor, err := x.file.Task(task)
	var o Operation
	for more := true; err == nil && more && cursor.Operation() < operation; {
		more, err = cursor.Next(x.blocks, &o)
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s in %s", o.Function, cursor.Fault(x.file, "").place())
}

// nameOf returns a communicator as reports name it: by its first members.
func (x *check) nameOf(id commID) string {
	if id == 0 {
		return "WORLD"
	}
	if id < 0 {
		return fmt.Sprintf("SELF of task %d", -1-id)
	}
	var tasks []int
	for p := range x.member {
		if p.comm == id {
			tasks = append(tasks, p.task)
		}
	}
	slices.Sort(tasks)
	return fmt.Sprintf("a communicator of tasks %v", tasks[:min(len(tasks), 4)])
}
