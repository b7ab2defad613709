package stats

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"gigarank/vtime"
)

// Calls sums up calls by procedure and communicator, and by rank. The outcome does not depend on the order of notes and merges.
type Calls struct {
	rows   map[CallKey]*callRow
	latest []latestRow // by procedure

	tasks     []Task   // by LP, or all ranks once merged; nil if ranks are not kept
	functions [][]Task // by procedure, then as tasks; nil if they are not kept, and for procedures without calls
	first     int      // rank of the first task
	balance   Balance
	counted   bool
	matrix    Matrix
	phases    PhaseSums
	blame     blame
	traffic   Traffic
	course    Course
	sites     sites
	names     map[uint64]string // of communicators, by context
	computing []vtime.Duration  // by LP; nil once settled
	computed  moments           // of the phases that Computes counts, not yet in the sums
}

// latestRow is the row of the latest call of a procedure.
type latestRow struct {
	context uint64
	row     *callRow // nil before the first call
}

// CallKey identifies calls: the number of a procedure and the context of a communicator, 0 for none.
type CallKey struct {
	Procedure uint8
	Context   uint64
}

func (k CallKey) compare(o CallKey) int {
	return cmp.Or(cmp.Compare(k.Procedure, o.Procedure), cmp.Compare(k.Context, o.Context))
}

// callRow sums up the calls of a key.
type callRow struct {
	count, bytes uint64
	times        [NumberOfCauses]Total
	sends        sendRun // not yet in the sums
}

// sendRun is a number of sends that follow each other, of equal bytes and times.
type sendRun struct {
	bytes int64
	took  vtime.Duration
	count uint64
}

// ManyContexts is the number of communicators beyond which the calls on all communicators but WORLD and SELF are one row for
// each procedure. Contexts of less are those of WORLD and SELF.
const (
	ManyContexts = 256
	OtherContext = ^uint64(0)
)

// FunctionsKept is the number of ranks up to which the calls of each rank are kept by procedure.
const FunctionsKept = 1 << 10

// Task sums up the calls of a rank.
type Task struct {
	Count, Bytes uint64
	Times        Causes
}

// Balance is what the load balance rests on: the sum and the greatest of the ranks' computing times.
type Balance struct {
	Computing Total
	Greatest  vtime.Duration
	Rank      int // the least with the greatest time
}

func (b *Balance) merge(o *Balance) {
	b.Computing.Merge(o.Computing)
	b.note(o.Greatest, o.Rank)
}

func (b *Balance) note(d vtime.Duration, rank int) {
	if d > b.Greatest || d == b.Greatest && rank < b.Rank {
		b.Greatest, b.Rank = d, rank
	}
}

// Open begins the sums of an engine with ranks from first on, out of all ranks. Sums of each rank are kept if tasks says so.
func (c *Calls) Open(first, ranks, all int, tasks bool) {
	c.counted, c.first, c.rows, c.names = true, first, map[CallKey]*callRow{}, map[uint64]string{}
	c.latest, c.computing = make([]latestRow, 1<<8), make([]vtime.Duration, ranks)
	if tasks {
		c.tasks = make([]Task, ranks)
		if all <= FunctionsKept {
			c.functions = make([][]Task, 1<<8)
		}
		c.blame.places = make([]int32, all)
	}
}

// note counts a call.
func (row *callRow) note(bytes int64, times *Causes) {
	row.count++
	row.bytes = addUp(row.bytes, uint64(bytes))
	for i, d := range times {
		if d > 0 {
			row.times[i].Add(d)
		}
	}
}

// merge adds settled sums.
func (row *callRow) merge(o *callRow) {
	row.count += o.count
	row.bytes = addUp(row.bytes, o.bytes)
	for i := range row.times {
		row.times[i].Merge(o.times[i])
	}
}

// append appends settled sums to b.
func (row *callRow) append(b []byte) []byte {
	b = appendWords(b, row.count, row.bytes)
	for _, t := range row.times {
		b = appendWords(b, t.High, t.Low)
	}
	return b
}

// read sets the sums from the bytes of append.
func (row *callRow) read(r *reader) {
	row.count, row.bytes = r.word(), r.word()
	for i := range row.times {
		row.times[i] = Total{r.word(), r.word()}
	}
}

// Note counts the call of an LP, which has contributed or received some bytes.
func (c *Calls) Note(lp int32, key CallKey, bytes int64, times *Causes) {
	c.latestOf(key).note(bytes, times)
	if c.tasks == nil {
		return
	}
	c.tasks[lp].note(bytes, times)
	if c.functions != nil {
		c.functionsOf(key.Procedure)[lp].note(bytes, times)
	}
}

// NoteSend counts a call of an LP that is work of its processor for a time from an instant on: a send of some bytes, or the post of a receive.
func (c *Calls) NoteSend(lp int32, key CallKey, bytes int64, began vtime.Time, took vtime.Duration) {
	if c.course.Counts() {
		c.course.Add(Processor, began, began.Add(took), 1)
	}
	row := c.latestOf(key)
	if s := &row.sends; s.bytes == bytes && s.took == took {
		s.count++
	} else {
		c.addSends(row)
		*s = sendRun{bytes, took, 1}
	}
	if c.tasks == nil {
		return
	}
	c.tasks[lp].noteMessage(bytes, 0, took)
	if c.functions != nil {
		c.functionsOf(key.Procedure)[lp].noteMessage(bytes, 0, took)
	}
}

// addSends adds the run of sends of a row to the sums.
func (c *Calls) addSends(row *callRow) {
	s := &row.sends
	row.count += s.count
	row.bytes = addUp(row.bytes, times(uint64(s.bytes), s.count))
	row.times[Processor].addSame(s.took, int(s.count))
	if s.took > 0 {
		of := &c.phases[DataSending]
		of.Count += s.count
		of.Time.addSame(s.took, int(s.count))
	}
	s.count = 0
}

// NoteReceive counts the call of an LP that receives a message, by the instants at which it is posted, the processor of the sender has let the message go,
// the message is there, and the call ends.
func (c *Calls) NoteReceive(lp int32, key CallKey, bytes int64, posted, left, ready, ended vtime.Time) {
	network := ready.Sub(left)
	processor := ended.Sub(posted) - network
	if c.course.Counts() {
		c.course.Add(Processor, posted, left, 1)
		c.course.Add(Network, left, ready, 1)
		c.course.Add(Processor, ready, ended, 1)
	}
	row := c.latestOf(key)
	row.count++
	row.bytes = addUp(row.bytes, uint64(bytes))
	row.times[Network].Add(network)
	row.times[Processor].Add(processor)
	if c.tasks == nil {
		return
	}
	c.tasks[lp].noteMessage(bytes, network, processor)
	if c.functions != nil {
		c.functionsOf(key.Procedure)[lp].noteMessage(bytes, network, processor)
	}
}

// noteMessage counts a call that sends or receives a message.
func (t *Task) noteMessage(bytes int64, network, processor vtime.Duration) {
	t.Count++
	t.Bytes = addUp(t.Bytes, uint64(bytes))
	t.Times[Network] += network
	t.Times[Processor] += processor
}

// functionsOf returns the sums of a procedure by LP.
func (c *Calls) functionsOf(procedure uint8) []Task {
	if c.functions[procedure] == nil {
		c.functions[procedure] = make([]Task, len(c.tasks))
	}
	return c.functions[procedure]
}

// note counts a call.
func (t *Task) note(bytes int64, times *Causes) {
	t.Count++
	t.Bytes = addUp(t.Bytes, uint64(bytes))
	t.Times.Add(times)
}

// Names reports whether a communicator has a name.
func (c *Calls) Names(context uint64) bool {
	_, named := c.names[context]
	return named
}

// Name stores the name of a communicator, which is the same on all engines.
func (c *Calls) Name(context uint64, name string) { c.names[context] = name }

// Compute counts time that an LP computes from an instant on.
func (c *Calls) Compute(lp int32, began vtime.Time, d vtime.Duration) {
	if c.course.Counts() {
		c.course.Add(Computing, began, began.Add(d), 1)
	}
	c.computing[lp] += d
}

// Computes counts a phase in which an LP computes from an instant on, and which takes time, as Compute, PhaseSums.NoteOne and Activities.Note do.
func (c *Calls) Computes(lp int32, began vtime.Time, d vtime.Duration) {
	if c.course.Counts() {
		c.course.Add(Computing, began, began.Add(d), 1)
	}
	c.computing[lp] += d
	m := &c.computed
	if d < m.min || d > m.max { // of no phase yet, too
		m.addRun(d, 1)
		return
	}
	var carry uint64
	m.sumLow, carry = bits.Add64(m.sumLow, uint64(d), 0)
	m.sumHigh += carry
	m.count++
}

// latestOf returns the row of a key, which it makes if it is missing, and which is found sooner next time.
func (c *Calls) latestOf(key CallKey) *callRow {
	latest := &c.latest[key.Procedure]
	if latest.row == nil || latest.context != key.Context {
		*latest = latestRow{key.Context, c.row(key)}
	}
	return latest.row
}

// row returns the row of a key. It makes a missing row.
func (c *Calls) row(key CallKey) *callRow {
	row := c.rows[key]
	if row == nil {
		row = &callRow{}
		c.rows[key] = row
	}
	return row
}

// Settle ends the counting: calls that an engine counts afterwards are lost. It adds the phases of Computes to the activities.
func (c *Calls) Settle(activities *Activities) {
	if c.computing == nil {
		return
	}
	c.balance = Balance{Rank: c.first}
	for lp, d := range c.computing {
		c.balance.Computing.Add(d)
		c.balance.note(d, c.first+lp)
		if c.tasks != nil {
			c.tasks[lp].Times[Computing] += d
		}
	}
	c.computing = nil
	activities[Computation].merge(&c.computed)
	of := &c.phases[SequentialComputation]
	of.Count += c.computed.count
	of.Time.Merge(Total{c.computed.sumHigh, c.computed.sumLow})
	for _, row := range c.rows {
		c.addSends(row)
	}
}

// Merge adds the settled sums of another engine.
func (c *Calls) Merge(o *Calls) {
	if !o.counted {
		return
	}
	if !c.counted {
		*c = Calls{counted: true, first: o.first, rows: map[CallKey]*callRow{}, names: map[uint64]string{}, balance: Balance{Rank: o.balance.Rank}}
	}
	for key, theirs := range o.rows {
		c.row(key).merge(theirs)
	}
	maps.Copy(c.names, o.names)
	c.balance.merge(&o.balance)
	c.addTasks(o)
	c.matrix.Merge(&o.matrix)
	c.phases.Merge(&o.phases)
	c.blame.merge(&o.blame)
	c.traffic.Merge(&o.traffic)
	c.course.Merge(&o.course)
	c.sites.merge(&o.sites)
}

// addTasks adds the tasks of another engine, whose ranks are others.
func (c *Calls) addTasks(o *Calls) {
	if o.tasks == nil {
		return
	}
	if c.tasks == nil {
		c.first, c.tasks = o.first, slices.Clone(o.tasks)
		for _, of := range o.functions {
			c.functions = append(c.functions, slices.Clone(of))
		}
		return
	}
	first, last := min(c.first, o.first), max(c.first+len(c.tasks), o.first+len(o.tasks))
	spread := func(tasks []Task) []Task {
		if len(tasks) == last-first {
			return tasks
		}
		all := make([]Task, last-first)
		copy(all[c.first-first:], tasks)
		return all
	}
	c.tasks = spread(c.tasks)
	copy(c.tasks[o.first-first:], o.tasks)
	for p, of := range o.functions {
		if of != nil || c.functions[p] != nil {
			c.functions[p] = spread(c.functions[p])
			copy(c.functions[p][o.first-first:], of)
		}
	}
	c.first = first
}

// CallTimes sums up the calls of a procedure on a communicator.
type CallTimes struct {
	CallKey
	Name         string // of the communicator
	Count, Bytes uint64
	Times        [NumberOfCauses]Total
}

// Times returns the sums by procedure and communicator, in the order of procedures and names. Communicators of equal names
// share rows. If communicators other than those that own names are many, they share OtherContext.
func (c *Calls) Times(own func(context uint64) bool) (all []CallTimes) {
	others := map[uint64]bool{}
	for key := range c.rows {
		if !own(key.Context) {
			others[key.Context] = true
		}
	}
	type place struct {
		procedure uint8
		name      string
	}
	rows := map[place]*CallTimes{}
	for _, key := range slices.SortedFunc(maps.Keys(c.rows), CallKey.compare) {
		row, name := c.rows[key], c.names[key.Context]
		if len(others) > ManyContexts && !own(key.Context) {
			key.Context, name = OtherContext, ""
		}
		at := place{key.Procedure, name}
		of := rows[at]
		if of == nil {
			of = &CallTimes{CallKey: key, Name: name}
			rows[at] = of
		}
		of.Count += row.count
		of.Bytes = addUp(of.Bytes, row.bytes)
		for i := range row.times {
			of.Times[i].Merge(row.times[i])
		}
	}
	for _, of := range rows {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b CallTimes) int {
		return cmp.Or(cmp.Compare(a.Procedure, b.Procedure), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Tasks returns the sums of each rank, nil if they were not kept.
func (c *Calls) Tasks() []Task { return c.tasks }

// Functions returns the sums of each rank by procedure, nil if they were not kept. A procedure without calls has none.
func (c *Calls) Functions() [][]Task { return c.functions }

// Balance returns what the load balance rests on.
func (c *Calls) Balance() Balance { return c.balance }

// Matrix returns the matrix of bytes between ranks.
func (c *Calls) Matrix() *Matrix { return &c.matrix }

// Phases returns the activities of processes, to be added to.
func (c *Calls) Phases() *PhaseSums { return &c.phases }

// Traffic returns the counts of the contents of messages, to be added to.
func (c *Calls) Traffic() *Traffic { return &c.traffic }

// Course returns the course of the run, to be added to if it counts.
func (c *Calls) Course() *Course { return &c.course }

// Append appends the sums, which are settled, to b, in the form that Read reads.
func (c *Calls) Append(b []byte) []byte {
	if !c.counted {
		return appendWords(b, 0)
	}
	b = appendWords(b, 1, uint64(c.first), uint64(len(c.tasks)), uint64(len(c.rows)),
		c.balance.Computing.High, c.balance.Computing.Low, uint64(c.balance.Greatest), uint64(c.balance.Rank))
	for _, key := range slices.SortedFunc(maps.Keys(c.rows), CallKey.compare) {
		row := c.rows[key]
		b = row.append(appendWords(b, uint64(key.Procedure), key.Context))
	}
	b = appendWords(b, uint64(len(c.names)))
	for _, context := range slices.Sorted(maps.Keys(c.names)) {
		name := c.names[context]
		b = append(appendWords(b, context, uint64(len(name))), name...)
	}
	b = appendTasks(b, c.tasks)
	b = appendWords(b, uint64(len(c.functions)))
	for _, of := range c.functions {
		if b = appendWords(b, uint64(len(of))); of != nil {
			b = appendTasks(b, of)
		}
	}
	for _, p := range c.phases {
		b = appendWords(b, p.Count, p.Time.High, p.Time.Low)
	}
	return c.sites.append(c.course.append(c.matrix.append(c.traffic.append(c.blame.append(b)))))
}

// Read sets the sums from the bytes of Append and returns the rest of b.
func (c *Calls) Read(b []byte) (rest []byte) {
	r := reader{b}
	if r.word() == 0 {
		return r.b
	}
	*c = Calls{counted: true, first: int(r.word()), rows: map[CallKey]*callRow{}, names: map[uint64]string{}}
	tasks, rows := r.word(), r.word()
	c.balance = Balance{Computing: Total{r.word(), r.word()}, Greatest: vtime.Duration(r.word()), Rank: int(r.word())}
	for range rows {
		c.row(CallKey{uint8(r.word()), r.word()}).read(&r)
	}
	for range r.word() {
		context, n := r.word(), r.word()
		c.names[context] = string(r.b[:n])
		r.b = r.b[n:]
	}
	c.tasks = r.tasks(tasks)
	for range r.word() {
		c.functions = append(c.functions, r.tasks(r.word()))
	}
	for i := range c.phases {
		p := &c.phases[i]
		p.Count, p.Time = r.word(), Total{r.word(), r.word()}
	}
	c.blame.read(&r)
	c.traffic.read(&r)
	c.matrix.read(&r)
	c.course.read(&r)
	c.sites.read(&r)
	return r.b
}

// appendTasks appends the sums of ranks to b.
func appendTasks(b []byte, tasks []Task) []byte {
	b = slices.Grow(b, len(tasks)*8*(2+int(NumberOfCauses)))
	for i := range tasks {
		t := &tasks[i]
		b = appendWords(b, t.Count, t.Bytes)
		for _, d := range t.Times {
			b = appendWords(b, uint64(d))
		}
	}
	return b
}

// tasks reads the sums of n ranks, nil for none.
func (r *reader) tasks(n uint64) []Task {
	if n == 0 {
		return nil
	}
	all := make([]Task, n)
	for i := range all {
		t := &all[i]
		t.Count, t.Bytes = r.word(), r.word()
		for j := range t.Times {
			t.Times[j] = vtime.Duration(r.word())
		}
	}
	return all
}
