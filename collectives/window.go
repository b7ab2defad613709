package collectives

// Plans whose members exchange messages in windows (see [Step]): in each window a member sends a number of messages and
// receives as many, in the order of their numbers.

// HasWindows reports whether a schedule has windows of several rounds.
func HasWindows(s Schedule) bool { return opensWindows(s) }

// opener is a plan that may have windows of several rounds.
type opener interface{ opens() bool }

func opensWindows(p any) bool {
	o, ok := p.(opener)
	return ok && o.opens()
}

// SendsByDistance reports whether all members send the messages of a window in the same order of distances.
func SendsByDistance(s Schedule) bool {
	r, ok := s.(interface{ byDistance() bool })
	return ok && r.byDistance()
}

// RepeatsPartners reports whether a member sends another several messages in one window.
func RepeatsPartners(s Schedule) bool {
	r, ok := s.(interface{ repeats() bool })
	return ok && r.repeats()
}

// Window is a window of several rounds whose messages are regular: each is a shift among all members, or within groups.
type Window struct {
	First, Messages int // the first round; the number of messages that a member sends, and receives
	message         int
	of              regularWindows
}

// MostInWindow is the most messages of a regular window.
const MostInWindow = 1<<6 - 1

// regularWindows is a plan whose windows of several rounds are regular.
type regularWindows interface {
	// window returns the first round of the window to which a round belongs, the number of its first message, and the number of its
	// messages, 0 for a round outside of windows.
	window(round int) (first, message, messages int)
	// shape returns the pattern of a message.
	shape(message int) Pattern
}

// WindowOf returns the window of several rounds to which a round belongs, none if the round is a window of its own or the window is not
// regular.
func WindowOf(s Schedule, round int) (Window, bool) {
	of, ok := s.(regularWindows)
	if !ok {
		return Window{}, false
	}
	first, message, n := of.window(round)
	if n < 2 || n > MostInWindow {
		return Window{}, false
	}
	return Window{first, n, message, of}, true
}

// Pattern returns the shape of a message of the window, by its number there.
func (w *Window) Pattern(number int) Pattern { return w.of.shape(w.message + number) }

// Last returns the last round of the window.
func (w *Window) Last() int { return w.First + windowRounds(w.Messages) - 1 }

func (c *chain) opens() bool { return opensWindows(c.first) || opensWindows(c.second) }

// windows are a number of messages in windows of equal size. The first window may have fewer, and the last has the rest.
type windows struct{ messages, first, size int }

// windowRounds returns the rounds of a window of n messages: n rounds in which a member sends and n in which it receives. In
// one round it sends the last message and receives the first.
func windowRounds(n int) int { return max(2*n-1, 0) }

func (w windows) rounds() int {
	head := min(w.first, w.messages)
	rest := w.messages - head
	return windowRounds(head) + rest/w.size*windowRounds(w.size) + windowRounds(rest%w.size)
}

// at returns the window of a round: the number of its first message, its size, and the number of the round in it.
func (w windows) at(round int) (first, n, at int) {
	if head := windowRounds(w.first); round < head {
		return 0, min(w.first, w.messages), round
	} else {
		round -= head
	}
	each := windowRounds(w.size)
	first = w.first + round/each*w.size
	return first, min(w.size, w.messages-first), round % each
}

func (w windows) window(round int) (first, message, messages int) {
	message, messages, at := w.at(round)
	return round - at, message, messages
}

func (w windows) opens() bool { return w.size > 1 && w.messages > 1 }

// exchanger returns the step in which a member would send a message and receive the message of the same number, if each were a
// window of its own.
type exchanger interface {
	exchange(member, message int) Step
}

// inWindow returns the step of a member in a round of a window of n messages.
func inWindow(e exchanger, member, first, n, at int) Step {
	step := idle
	if j := at - n + 1; j >= 0 {
		step = e.exchange(member, first+j)
		step.To, step.Send = None, Blocks{}
	}
	if at < n {
		sent := e.exchange(member, first+at)
		step.To, step.Send = sent.To, sent.Send
	}
	step.Later, step.Left = n-1, windowRounds(n)-1-at
	return step
}
