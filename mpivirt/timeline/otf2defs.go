package timeline

import (
	"bufio"
	"fmt"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// Kinds of OTF2's definitions.
const (
	otf2Clock         = 5
	otf2Paradigm      = 6
	otf2String        = 10
	otf2Attribute     = 11
	otf2TreeNode      = 12
	otf2LocationGroup = 13
	otf2Location      = 14
	otf2Region        = 15
	otf2Group         = 18
	otf2Comm          = 22
	otf2TreeDomain    = 27
	otf2InterComm     = 43
)

// Values of OTF2's enumerations.
const (
	paradigmUser, paradigmMPI             = 1, 4
	domainMachine, domainSharedMemory     = 0, 1
	processGroup, processorThread         = 1, 1
	groupLocations, groupComm, groupSelf  = 4, 5, 6
	roleFunction, roleCode                = 1, 4
	roleBarrier, roleOneToAll             = 15, 23
	roleAllToOne, roleAllToAll, roleOther = 24, 25, 26
	rolePointToPoint                      = 28
	groupOfLocations, firstGroupOfComm    = 0, 1
	ticksPerSecond                        = 1_000_000_000_000
	oldRoleUnknown, oldGroupUnknown       = 0, 0 // fields that OTF2 has kept from before version 1.2
)

// definitions writes the definitions of an archive.
type definitions struct {
	*archive
	file  *otf2File
	texts map[string]uint32
	b     []byte // scratch
}

func (d *definitions) define(kind byte, fields []byte) {
	d.b = fields
	d.file.definition(kind, fields)
	d.defined++
}

// text returns the number of a text, which it defines unless it is known.
func (d *definitions) text(format string, arguments ...any) uint32 {
	text := fmt.Sprintf(format, arguments...)
	number, known := d.texts[text]
	if !known {
		number = uint32(len(d.texts))
		d.texts[text] = number
		d.define(otf2String, appendText(append32(d.b[:0], number), text))
	}
	return number
}

// writeDefinitions writes the definitions of the archive.
func (a *archive) writeDefinitions(w *bufio.Writer) {
	d := &definitions{archive: a, file: newOTF2File(w, otf2Definitions), texts: map[string]uint32{}}
	d.define(otf2Clock, append64(d.b[:0], ticksPerSecond, uint64(a.From), uint64(a.end.Sub(a.From)), undefined64))
	empty := d.text("")
	name := d.text("MPI")
	d.define(otf2Paradigm, append(append32(append(d.b[:0], paradigmMPI), name), 0))
	for number := range processorCause + 2 {
		name, about := d.text("critical path"), d.text("picoseconds of the region on the critical path of the run")
		if number <= processorCause {
			cause := kernel.Cause(number).String()
			name, about = d.text("%s", cause), d.text("picoseconds of the region that pass for this cause: %s", cause)
		}
		d.define(otf2Attribute, append32(append(append32(d.b[:0], uint32(number), name), otf2Uint64), about))
	}
	d.regions(empty)
	d.locations()
	d.groups()
	d.file.close()
}

// regions defines a region for each function.
func (d *definitions) regions(empty uint32) {
	for _, p := range d.procedures() {
		name := d.text("%s", d.NameOf(p))
		role, paradigm := roleOf(world.Procedure(p)), byte(paradigmMPI)
		if world.Procedure(p) == world.Compute {
			paradigm = paradigmUser
		}
		b := append(append32(d.b[:0], d.regionOf[p], name, empty), oldRoleUnknown)
		b = append(append32(b, undefined32, 0, 0, name), role, paradigm)
		d.define(otf2Region, append32(b, 0))
	}
}

// roleOf returns the role of a region.
func roleOf(p world.Procedure) byte {
	switch p.Class() {
	case world.ClassSend, world.ClassReceive, world.ClassSendReceive:
		return rolePointToPoint
	case world.ClassCollective, world.ClassNeighborhood:
		return roleOfCollective(p)
	case world.ClassCommunicator, world.ClassTopology, world.ClassIntercommunicator:
		return roleOther
	}
	if p == world.Compute {
		return roleCode
	}
	return roleFunction
}

func roleOfCollective(p world.Procedure) byte {
	switch p {
	case world.Barrier:
		return roleBarrier
	case world.Bcast, world.Scatter, world.Scatterv:
		return roleOneToAll
	case world.Gather, world.Gatherv, world.Reduce:
		return roleAllToOne
	case world.Scan, world.Exscan:
		return roleOther
	}
	return roleAllToAll
}

// locations defines the machine, its nodes that are shown, and the ranks.
func (d *definitions) locations() {
	class := d.text("machine")
	name := d.text("%s", d.Machine)
	d.define(otf2TreeNode, append32(d.b[:0], 0, name, class, undefined32))
	d.define(otf2TreeDomain, append(append32(d.b[:0], 0), domainMachine))
	class = d.text("node")
	tree := map[int]uint32{} // by node
	for place, rank := range d.Shown {
		node := 0
		if d.node != nil {
			node = d.node(rank)
		}
		number, known := tree[node]
		if !known {
			number = uint32(1 + len(tree))
			tree[node] = number
			name := d.text("node %d", node)
			d.define(otf2TreeNode, append32(d.b[:0], number, name, class, 0))
			d.define(otf2TreeDomain, append(append32(d.b[:0], number), domainSharedMemory))
		}
		name := d.text("rank %d", rank)
		d.define(otf2LocationGroup, append32(append(append32(d.b[:0], uint32(place), name), processGroup), number, undefined32))
		b := append(append32(append64(d.b[:0], uint64(rank)), name), processorThread)
		d.define(otf2Location, append32(append64(b, d.events[place]), uint32(place)))
	}
}

// groups defines the locations of MPI, the communicators and their groups. Members of groups are places among these locations.
func (d *definitions) groups() {
	place := map[int32]uint64{}
	var all []uint64
	for i, rank := range d.Shown {
		place[int32(rank)] = uint64(i)
		all = append(all, uint64(rank))
	}
	d.group(groupOfLocations, "locations of MPI", groupLocations, all)
	group := uint32(firstGroupOfComm)
	commGroup := func(name string, ranks []int32) {
		var members []uint64
		for _, rank := range ranks {
			members = append(members, place[rank])
		}
		d.group(group, name, groupComm, members)
		group++
	}
	for number, context := range d.comms {
		c := d.Comms[context]
		text := c.Name
		if text == "" && context == world.WorldContext {
			text = "WORLD"
		}
		name := d.text("%s", text)
		switch {
		case c.Remote != 0:
			commGroup(text+", one group", c.Members)
			commGroup(text+", the other group", c.RemoteMembers)
			d.define(otf2InterComm, append32(d.b[:0], uint32(number), name, group-2, group-1, undefined32, 0))
			continue
		case context == world.SelfContext:
			d.group(group, text, groupSelf, nil)
			group++
		default:
			commGroup(text, d.members(context))
		}
		d.define(otf2Comm, append32(d.b[:0], uint32(number), name, group-1, undefined32, 0))
	}
}

// group defines a group.
func (d *definitions) group(number uint32, name string, kind byte, members []uint64) {
	text := d.text("%s", name)
	b := append32(append(append32(d.b[:0], number, text), oldGroupUnknown), uint32(len(members)))
	b = append(append64(b, members...), kind, paradigmMPI)
	d.define(otf2Group, append32(b, 0))
}
