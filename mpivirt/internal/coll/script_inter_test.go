package coll

import (
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The calls of scripts that have to do with intercommunicators:
//
//	inter 0-1 2-4        of two groups, without a message
//	meet 1 7 8 2-4       from the leader's group: member 1 tells the others of the tokens 7 and 8, and of the remote group
//	merge 1 high         the number of the communicator, and whether the group comes last
//	twin 1               a duplicate, the one with a number, without a message
//
// On an intercommunicator root= names a rank of WORLD.

// makeInter makes a communicator. It reports whether the call is over.
func (p *scriptPlayer) makeInter(lp int32, r *scripted, words []string) bool {
	k, rank := p.k, int(p.k.partition.Global(lp))
	groupOf := func(who string) *world.Group {
		lo, hi := rangeOf(p, who, k.partition.Target.Ranks())
		return world.Strided(lo, 1, hi-lo+1)
	}
	switch words[0] {
	case "inter":
		own, other := groupOf(words[1]), groupOf(words[2])
		if own.Member(rank) >= 0 {
			r.made = k.Inter(1001, own, 1002, other)
		} else {
			r.made = k.Inter(1002, other, 1001, own)
		}
	case "twin":
		if r.comm.Remote != nil {
			r.made = k.DupInter(r.comm, int32(p.number(words[1])))
		} else {
			r.made = k.LocalDuplicate(lp, r.comm, int32(p.number(words[1])))
		}
	case "meet":
		leader, told := p.number(words[1]), []byte(nil)
		member := r.comm.Group.Member(rank)
		if member == leader {
			told = Told(uint64(p.number(words[2])), uint64(p.number(words[3])), groupOf(words[4]))
		}
		r.inter = k.NewMeeting(r.comm, member, leader, told)
		return p.goOn(lp, r)
	case "merge":
		flag, theirs := []byte{0}, []byte{0}
		if words[2] == "high" {
			flag[0] = 1
		}
		r.call = Collective{Procedure: world.IntercommMerge, Operation: collectives.Allreduce, Bytes: 1, Element: 1, Data: true, Input: flag, Output: theirs}
		// Equal flags leave the order open; scripts give different ones.
		r.made = k.Merge(r.comm, int32(p.number(words[1])), flag[0] == 0)
		return p.enterInter(lp, r, &r.call, "")
	}
	return true
}

// enterUnion enters a rank into the split of an intercommunicator, which is carried out among the ranks of both groups.
func (p *scriptPlayer) enterUnion(lp int32, r *scripted, v *Collective, err error) bool {
	named := r.comm
	defer func() { r.comm = named }()
	if err == nil {
		err = named.Check(v)
	}
	if err != nil {
		return p.k.Messages.Raise(lp, v.Procedure, err)
	}
	r.comm, _ = p.k.OfBoth(named, lp)
	return p.enter(lp, r, v, nil, "")
}

// enterInter begins a collective on an intercommunicator: as one exchange if it is nonblocking or an alltoall, else in parts.
func (p *scriptPlayer) enterInter(lp int32, r *scripted, v *Collective, name string) bool {
	k, member := p.k, r.comm.Group.Member(int(p.k.partition.Global(lp)))
	if err := r.comm.Check(v); err != nil {
		return k.Messages.Raise(lp, v.Procedure, err)
	}
	if name == "" && v.GoesInParts() {
		r.inter = k.NewInterCall(r.comm, member, v, v.Lengths())
		return p.goOn(lp, r)
	}
	receives, sends, end := k.InterMessages(r.comm, member, v, v.Lengths())
	index := p.exchange(lp, r.comm, member, v.Procedure, InterPart{Receives: receives, Sends: sends}, end)
	if name == "" {
		return k.Messages.WaitRequest(lp, index, v.Procedure)
	}
	r.names[name] = index
	if r.want != nil {
		r.pending[index] = expected{v.Output, r.want}
	}
	r.want = nil
	return true
}

// goOn carries out the parts of a rank's call, until one is not over. It reports whether the call is.
func (p *scriptPlayer) goOn(lp int32, r *scripted) bool {
	k, x := p.k, r.inter
	for {
		if b := k.Messages.CompletionOf(lp); b.Err != nil && x.Err == nil {
			x.Err = b.Err
		}
		part, more := x.NextPart()
		if !more {
			break
		}
		k.Messages.NewCompletion(lp)
		over := false
		if v := part.Collective; v != nil {
			named := r.comm
			r.comm, v.Algorithm = x.Group, k.Algorithm(v, x.Group)
			over = p.enter(lp, r, v, nil, "")
			r.comm = named
		} else {
			over = k.Messages.WaitRequest(lp, p.exchange(lp, x.Comm, x.Member, x.Procedure(), part, nil), x.Procedure())
		}
		if !over {
			return false
		}
	}
	r.inter = nil
	if made := k.EndParts(x); made != nil {
		r.made = made
	}
	k.Messages.NewCompletion(lp).Found = true
	return x.Err == nil || k.Messages.Raise(lp, x.Procedure(), x.Err)
}

// exchange begins messages between members of both groups.
func (p *scriptPlayer) exchange(lp int32, c *Communicator, member int, procedure world.Procedure, part InterPart, end func() vtime.Duration) int32 {
	q := &p2p.Operands{Procedure: procedure, Comm: &p.k.Exchanging(c).Comm, Member: int32(member)}
	return p.k.Messages.Exchange(lp, q, c.Index, part.Receives, part.Sends, end)
}

// fillInter gives a call on an intercommunicator its root, its input and room for its output, and the rank what is to come
// out: what members of one group hand in, those of the other receive (MPI 4.1, chapter 6).
func (p *scriptPlayer) fillInter(r *scripted, v *Collective, rank int) {
	own, other := r.comm.Group, r.comm.Remote.Group
	root, rooted := v.Root, v.Operation.Rooted()
	isRoot, away := rooted && root == rank, rooted && other.Member(root) >= 0
	switch {
	case isRoot:
		v.Root = world.Root
	case away:
		v.Root = other.Member(root)
	case rooted && own.Member(root) >= 0:
		v.Root = world.ProcNull
	}
	b, n, me := v.Bytes, int64(other.Size()), int64(own.Member(rank))
	if v.Operation == collectives.ReduceScatter { // both groups reduce vectors of one length
		v.Bytes = b * n
		v.Counts = slices.Repeat([]int64{v.Bytes}, own.Size())
	}
	byCounts := strings.HasSuffix(v.Operation.String(), "v")
	if v.Operation == collectives.Barrier || !p.v.data && !byCounts || b < 0 {
		return
	}
	v.Data, v.Operator = true, affine
	theirs := func(of func(member int) []byte) (joined []byte) {
		for m := range int(n) {
			joined = append(joined, of(m)...)
		}
		return joined
	}
	from := func(bytes int64) func(m int) []byte {
		return func(m int) []byte { return contributed(other.WorldRank(m), bytes) }
	}
	folded := func(bytes int64) []byte {
		x := from(bytes)(0)
		for m := 1; m < int(n); m++ {
			v.Operator.Apply(x, x, from(bytes)(m))
		}
		return x
	}
	blocks := slices.Repeat([]int64{b}, int(n))
	switch v.Operation {
	case collectives.Bcast:
		if isRoot {
			v.Input = contributed(root, b)
		} else if away {
			v.Output, r.want = make([]byte, b), contributed(root, b)
		}
	case collectives.Reduce:
		if isRoot {
			v.Output, r.want = make([]byte, b), folded(b)
		} else if away {
			v.Input = contributed(rank, b)
		}
	case collectives.Gather, collectives.Gatherv:
		if isRoot {
			v.Output, r.want = make([]byte, n*b), theirs(from(b))
			if byCounts {
				v.Counts = blocks
			}
		} else if away {
			v.Input = contributed(rank, b)
		}
	case collectives.Scatter, collectives.Scatterv:
		if isRoot {
			v.Input = contributed(root, n*b)
			if byCounts {
				v.Counts = blocks
			}
		} else if away {
			v.Output, r.want = make([]byte, b), contributed(root, int64(own.Size())*b)[me*b:(me+1)*b]
		}
	case collectives.Allgather, collectives.Allgatherv:
		v.Input, v.Output, r.want = contributed(rank, b), make([]byte, n*b), theirs(from(b))
		if byCounts {
			v.Counts = blocks
		}
	case collectives.Alltoall, collectives.Alltoallv:
		v.Input, v.Output = contributed(rank, n*b), make([]byte, n*b)
		r.want = theirs(func(m int) []byte { return from(int64(own.Size()) * b)(m)[me*b : (me+1)*b] })
		if byCounts {
			v.InCounts, v.OutCounts = blocks, blocks
		}
	case collectives.Allreduce:
		v.Input, v.Output, r.want = contributed(rank, b), make([]byte, b), folded(b)
	case collectives.ReduceScatter:
		share, all := b*n, b*n*int64(own.Size())
		v.Input, v.Output, r.want = contributed(rank, all), make([]byte, share), folded(all)[me*share:(me+1)*share]
	}
	lp, _ := p.k.partition.Local(rank)
	v.Operator = p.inCall(lp, !v.GoesInParts(), v.Operator)
}
