package coll

import (
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
)

// An alltoallv over arrays. Each member knows the lengths of its own blocks alone, and most blocks may be empty. An engine
// stores for its members the blocks that are not empty. Where several engines have members, messages up and down the tree of
// these engines show that all members have entered, and the length of the longest block. Then each engine sends the others
// their blocks, with their lengths. Rounds begin once an engine has the blocks of all others: from then on the sizes of all
// messages to its members are known. The sender of a block above the eager limit also needs the clock of its receiver.

// uneven is the state of the blocks of an alltoallv.
type uneven struct {
	in, out lengths        // of the blocks that members here send, and of the blocks that they expect
	rows    *rowPair       // of members of which most blocks are not empty, in place of lists; see rows.go
	foreign []foreign      // blocks of other engines' members for members here
	most    int64          // length of the longest block, as far as it is known
	begun   bool           // the sizes of all messages are known to the array
	cut     map[int]cutOff // by member: its first message that is longer than expected
	piece   []sentBlock    // scratch: the blocks of a record
	pieces  []rowPiece     // likewise
	rounds  blockRounds

	listedElsewhere bool // some member of another engine has no row, as far as it is known
}

// foreign are the blocks of the members of another engine, low to end-1, for members here.
type foreign struct {
	lengths
	engine, low, end int
	next             int   // member of which the next block may be
	last             int64 // length of the latest block
}

// sentBlock is an entry of a member's lengths.
type sentBlock struct{ from, entry int }

// cutOff is a block that is longer than its receiver expects.
type cutOff struct {
	round           int // -1 for the member's own block
	rank            int
	bytes, expected int64
}

// lengths are the blocks of some members that are not empty: the others and the places of the blocks in the member's
// memory, by ascending others. An entry behind the last block of a member has the end of the memory.
type lengths struct {
	begin, end []int // by member, counted from the first: its entries, without the last
	peers      []int32
	at         []int64
}

// of returns lengths of n members without blocks.
func lengthsOf(n int) lengths {
	ends := make([]int, 2*n)
	return lengths{begin: ends[:n], end: ends[n:]}
}

// add adds the blocks of a member. It returns the length of the longest.
func (l *lengths) add(local int, counts []int64) (most int64) {
	some := 0
	for _, n := range counts {
		if n > 0 {
			some++
		}
	}
	l.grow(some + 1)
	l.begin[local] = len(l.peers)
	at := int64(0)
	for peer, n := range counts {
		if n > 0 {
			l.peers, l.at = append(l.peers, int32(peer)), append(l.at, at)
			at, most = at+n, max(most, n)
		}
	}
	l.close(local, at)
	return most
}

// close adds the entry behind the last block of a member.
func (l *lengths) close(local int, at int64) {
	l.end[local] = len(l.peers)
	l.peers, l.at = append(l.peers, -1), append(l.at, at)
}

// entryOf returns the entry of a member's block for or from another, or that of a later block.
func (l *lengths) entryOf(local int, peer int32) int {
	at, _ := slices.BinarySearch(l.peers[l.begin[local]:l.end[local]], peer)
	return l.begin[local] + at
}

// newUneven returns the state of an instance that no member here has entered, in the memory of an ended instance if there is
// one.
func newUneven(comm *Communicator) *uneven {
	u, reused := comm.spare.uneven.Pop()
	if !reused {
		n := comm.Last - comm.First
		return &uneven{in: lengthsOf(n), out: lengthsOf(n)}
	}
	u.in.reset()
	u.out.reset()
	for i := range u.foreign {
		f := &u.foreign[i]
		f.reset()
		f.next, f.last = f.low, 0
	}
	u.most, u.begun, u.cut, u.listedElsewhere = 0, false, nil, false
	u.rows.reset()
	clear(u.rounds.heads)
	u.rounds.senders = u.rounds.senders[:0]
	return u
}

// reset leaves no blocks.
func (l *lengths) reset() {
	clear(l.begin)
	clear(l.end)
	l.peers, l.at = l.peers[:0], l.at[:0]
}

// grow makes room for n more entries. Lists grow twofold, since they may be long.
func (l *lengths) grow(n int) {
	if free := cap(l.peers) - len(l.peers); free < n {
		n = max(n, len(l.peers))
		l.peers, l.at = slices.Grow(l.peers, n), slices.Grow(l.at, n)
	}
}

// keepLengths stores the lengths of a member's blocks.
func (c *Collectives) keepLengths(inst *instance, member int, v *Collective) {
	u, local := inst.uneven, member-inst.comm.First
	if most, kept := u.keepRows(inst.comm, local, v); kept {
		u.most = max(u.most, most)
	} else {
		u.most = max(u.most, u.in.add(local, v.InCounts), u.out.add(local, v.OutCounts))
	}
	if sent, expected := v.InCounts[member], v.OutCounts[member]; sent > expected {
		u.cutsOff(member, cutOff{round: -1, bytes: sent, expected: expected})
	}
}

// cutsOff stores a block that is longer than its receiver expects, unless the member receives another block that is too long before.
func (u *uneven) cutsOff(member int, b cutOff) {
	if first, known := u.cut[member]; known && first.round < b.round {
		return
	}
	if u.cut == nil {
		u.cut = map[int]cutOff{}
	}
	u.cut[member] = b
}

// blameCuts stores the errors of members that have received a block longer than expected.
func (inst *instance) blameCuts() {
	for member, b := range inst.uneven.cut {
		if b.round < 0 {
			inst.blame(member, selfTruncated(b.bytes, b.expected))
		} else {
			inst.blame(member, truncated(b.rank, b.bytes, b.expected))
		}
	}
}

// truncated returns the error of a member that receives more than it expects.
func truncated(rank int, bytes, expected int64) error {
	return world.Errorf(world.ErrTruncate, "rank %d sends %s where %d are expected", rank, spelling.Count(bytes, "byte"), expected)
}

// selfTruncated returns the error of a member that sends itself more than it expects.
func selfTruncated(bytes, expected int64) error {
	return world.Errorf(world.ErrTruncate, "the rank sends itself %s where %d are expected", spelling.Count(bytes, "byte"), expected)
}

// beginUneven begins the rounds of an alltoallv once the sizes of all messages are known, and reports whether they are.
func (c *Collectives) beginUneven(inst *instance, b *arrayRun) bool {
	u := inst.uneven
	if u.begun {
		return true
	}
	if b.traded != nil && b.traded.missing > 0 {
		return false
	}
	u.begun = true
	if u.onlyRows(b.Target.EagerLimit()) {
		b.SetRows(u.most, u.rows.same(), u.rows.column)
		return true
	}
	c.decideRows(inst)
	s, members := &u.rounds, inst.comm.Size
	if s.members = members; s.heads == nil {
		s.heads = make([]int32, members-1)
	}
	s.add(inst.comm.First, &u.in)
	for i := range u.foreign {
		s.add(u.foreign[i].low, &u.foreign[i].lengths)
	}
	b.SetUneven(u.most, s.each)
	return true
}

// blockRounds goes through the messages of an alltoallv, round by round.
type blockRounds struct {
	members int
	heads   []int32 // by round: the first sender whose next message it has, counted from 1; 0 for none
	senders []sender
}

// sender is a member with blocks that are not empty.
type sender struct {
	lengths *lengths
	member  int32
	next    int32 // next sender of the round, counted from 1; 0 for none
	entry   int32 // of the next message, counted from begin
	local   int32 // number of the member in lengths
}

// add adds members, from a first one on.
func (s *blockRounds) add(first int, l *lengths) {
	s.senders = slices.Grow(s.senders, len(l.begin))
	for local, begin := range l.begin {
		peers := l.peers[begin:l.end[local]]
		if len(peers) == 0 {
			continue
		}
		member := int32(first + local)
		at, own := slices.BinarySearch(peers, member)
		if own {
			at++
		}
		s.senders = append(s.senders, sender{lengths: l, member: member, entry: int32(at), local: int32(local)})
		s.enlist(int32(len(s.senders)-1), -1)
	}
}

// enlist adds a sender to the list of the round of its next message, if there is one after a round.
func (s *blockRounds) enlist(index int32, after int) {
	m := &s.senders[index]
	begin, n := m.lengths.begin[m.local], int32(m.lengths.end[m.local]-m.lengths.begin[m.local])
	if m.entry == n {
		m.entry = 0 // members before the sender come after those behind it
	}
	peer := m.lengths.peers[begin+int(m.entry)]
	if peer == m.member {
		return
	}
	if round := roundTo(int(m.member), int(peer), s.members); round > after {
		m.next, s.heads[round] = s.heads[round], index+1
	}
}

// each calls visit for the messages of a round.
func (s *blockRounds) each(round int, visit func(sender int, bytes int64)) {
	for index := s.heads[round]; index != 0; {
		m := &s.senders[index-1]
		entry, next := m.lengths.begin[m.local]+int(m.entry), m.next
		visit(int(m.member), m.lengths.at[entry+1]-m.lengths.at[entry])
		m.entry++
		s.enlist(index-1, round)
		index = next
	}
}

// roundTo returns the round of a pairwise exchange in which a member sends to another.
func roundTo(from, to, members int) int {
	if to > from {
		return to - from - 1
	}
	return to - from - 1 + members
}

// moveUneven copies the blocks of members here to members here. It goes through as many receivers at a time as have their
// next entries and memory in the cache.
func (c *Collectives) moveUneven(inst *instance, inputs [][]byte) {
	u, comm := inst.uneven, inst.comm
	if u.rows.used() {
		c.moveRows(inst, inputs)
		return
	}
	next, expected := slices.Clone(u.in.begin), slices.Clone(u.out.begin)
	for low := comm.First; low < comm.Last; low += strip {
		end := min(low+strip, comm.Last)
		for local, in := range inputs {
			i := next[local]
			for ; i < u.in.end[local] && int(u.in.peers[i]) < low; i++ {
			}
			for ; i < u.in.end[local] && int(u.in.peers[i]) < end; i++ {
				from, to := int32(comm.First+local), int(u.in.peers[i])
				e := &expected[to-comm.First]
				for *e < u.out.end[to-comm.First] && u.out.peers[*e] < from {
					*e++
				}
				c.place(inst, from, to, *e, in[u.in.at[i]:u.in.at[i+1]], u.in.at[i+1]-u.in.at[i])
			}
			next[local] = i
		}
	}
}

// place gives a member here its block from another, as far as it is expected. entry is that of the block in the member's
// lengths, or that of a later block if none is expected. content is nil if only sizes are simulated.
func (c *Collectives) place(inst *instance, from int32, to, entry int, content []byte, bytes int64) {
	u, local := inst.uneven, to-inst.comm.First
	expected := int64(0)
	if entry < u.out.end[local] && u.out.peers[entry] == from {
		at := u.out.at[entry]
		expected = u.out.at[entry+1] - at
		if content != nil {
			copy(inst.local.outputs[local][at:at+expected], content)
		}
	}
	if bytes > expected && int(from) != to {
		u.cutsOff(to, cutOff{roundTo(int(from), to, inst.comm.Size), inst.comm.RankOf(int(from), 0), bytes, expected})
	}
}

// sendOwed sends other engines the clocks of receivers here that free their senders, as far as there is room. It reports
// whether all have been sent.
func (c *Collectives) sendOwed(inst *instance, b *arrayRun) bool {
	for owed := b.Owed(); b.outbound.owed < len(owed); b.outbound.owed++ {
		o := owed[b.outbound.owed]
		engine := c.ownerOf(b, o.Sender)
		if !c.partition.Engine.Room(engine) {
			c.stall(inst, b, engine)
			return false
		}
		w := c.collectiveRecord(inst, engine, world.RecordArray, 5*8+8)
		w.U64(uint64(b.Step() + 1)) // the second step, which these rounds do not have
		w.U64(uint64(b.Top))
		w.U64(uint64(o.Sender))
		w.U64(0)
		w.U64(1)
		w.U64(uint64(o.Clock))
	}
	return true
}

// sendUneven sends an engine the blocks of members here that are for its members, as far as there is room.
func (c *Collectives) sendUneven(inst *instance, consigned *consignment) {
	b := inst.arrays
	if inst.failed != nil {
		return
	}
	for sent := 0; ; {
		if !c.partition.Engine.Room(consigned.engine) {
			c.partition.Engine.Throttle(c.item(task{instance: inst, blocks: consigned}), b.hold.least, consigned.engine)
			return
		}
		if sent > turnBytes {
			c.partition.Engine.Ready(c.item(task{instance: inst, blocks: consigned}))
			return
		}
		send := c.sendUnevenPiece
		if inst.uneven.rows.used() {
			send = c.sendRowPieces
		}
		bytes, last := send(inst, b.traded, consigned)
		if sent += bytes; last {
			break
		}
	}
	if b.traded.unsent--; b.traded.unsent == 0 {
		c.queueBlocks(inst, b)
	}
}

// headBytes is the length of the head of a block in a record.
const headBytes = 4 + 4 + 8

// Flags of a record of blocks.
const (
	flagLastBlocks = 1 << iota
	flagRows
)

func flagsOfBlocks(last, rows bool) (flags byte) {
	if last {
		flags = flagLastBlocks
	}
	if rows {
		flags |= flagRows
	}
	return flags
}

// sendUnevenPiece sends a record of the next blocks of a consignment. It reports whether they are the last.
func (c *Collectives) sendUnevenPiece(inst *instance, t *trading, consigned *consignment) (bytes int, last bool) {
	u, comm := inst.uneven, inst.comm
	size, last := u.nextPiece(comm, t, consigned)
	w := c.collectiveRecord(inst, consigned.engine, world.RecordBlocks, size)
	w.U8(flagsOfBlocks(last, false))
	for _, s := range u.piece {
		at, end := u.in.at[s.entry], u.in.at[s.entry+1]
		w.U32(uint32(s.from))
		w.U32(uint32(u.in.peers[s.entry]))
		w.U64(uint64(end - at))
		if t.inputs != nil {
			w.Rest = w.Rest[copy(w.Rest, t.inputs[s.from-comm.First][at:end]):]
		}
	}
	c.partition.Engine.Copied(size)
	return size, last
}

// nextPiece sets u.piece to the next blocks of a consignment: at least one, and as many as fit into a piece. It returns the
// size of their record, and whether they are the last. Of a consignment, to is the next entry of member from.
func (u *uneven) nextPiece(comm *Communicator, t *trading, consigned *consignment) (size int, last bool) {
	u.piece, size = u.piece[:0], 1
	for ; consigned.from < comm.Last; consigned.from, consigned.to = consigned.from+1, 0 {
		local := consigned.from - comm.First
		peers := u.in.peers[u.in.begin[local]:u.in.end[local]]
		if consigned.to == 0 {
			consigned.to, _ = slices.BinarySearch(peers, int32(consigned.low))
		}
		for ; consigned.to < len(peers) && int(peers[consigned.to]) < consigned.end; consigned.to++ {
			entry, n := u.in.begin[local]+consigned.to, headBytes
			if t.inputs != nil {
				n += int(u.in.at[entry+1] - u.in.at[entry])
			}
			if len(u.piece) > 0 && size+n > pieceBytes {
				return size, false
			}
			u.piece, size = append(u.piece, sentBlock{consigned.from, entry}), size+n
		}
	}
	return size, true
}

// receiveUneven reads a record of sendUnevenPiece or sendRowPieces. It may come before the news that all members have entered.
func (c *Collectives) receiveUneven(inst *instance, engine int, r world.Reader) {
	b, flags := inst.arrays, r.U8()
	if flags&flagRows != 0 {
		c.receiveRowPieces(inst, engine, r)
	} else {
		c.receiveListed(inst, engine, flags&flagLastBlocks != 0, r)
	}
	if flags&flagLastBlocks == 0 {
		return
	}
	if b.traded.missing--; b.traded.missing == 0 {
		c.queue(inst)
	}
}

// receiveListed reads the blocks of a record of sendUnevenPiece.
func (c *Collectives) receiveListed(inst *instance, engine int, last bool, r world.Reader) {
	u := inst.uneven
	u.listRows(inst.comm)
	f := u.from(c, inst, engine)
	for len(r.Rest) > 0 {
		from, to, bytes := int(r.U32()), int32(r.U32()), int64(r.U64())
		var content []byte
		if inst.local != nil {
			content, r.Rest = r.Rest[:bytes], r.Rest[bytes:]
		}
		f.append(from, to, bytes)
		c.place(inst, int32(from), int(to), u.out.entryOf(int(to)-inst.comm.First, int32(from)), content, bytes)
	}
	if last {
		f.closeUntil(f.end)
	}
}

// from returns the blocks that have come from an engine.
func (u *uneven) from(c *Collectives, inst *instance, engine int) *foreign {
	at := slices.IndexFunc(u.foreign, func(f foreign) bool { return f.engine == engine })
	if at < 0 {
		low, end := c.participants(inst, engine)
		at, u.foreign = len(u.foreign), append(u.foreign, foreign{lengths: lengthsOf(end - low), engine: engine, low: low, end: end, next: low})
	}
	return &u.foreign[at]
}

// append adds a block, behind the blocks of the same and earlier members.
func (f *foreign) append(from int, to int32, bytes int64) {
	f.closeUntil(from)
	at := int64(0)
	if n := len(f.at); n > f.begin[from-f.low] {
		at = f.at[n-1] + f.last
	}
	f.peers, f.at, f.last = append(f.peers, to), append(f.at, at), bytes
}

// closeUntil ends the entries of members before one.
func (f *foreign) closeUntil(member int) {
	for ; f.next < member; f.next++ {
		at := int64(0)
		if n := len(f.at); n > f.begin[f.next-f.low] {
			at = f.at[n-1] + f.last
		}
		f.close(f.next-f.low, at)
		if f.next+1 < f.end {
			f.begin[f.next+1-f.low] = len(f.peers)
		}
	}
}
