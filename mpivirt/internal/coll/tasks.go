package coll

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Communicator returns the communicator with an index, the freed communicator if it has been freed.
func (c *Collectives) Communicator(index int32) *Communicator {
	if comm := c.Communicators.At(index); comm != nil {
		return comm
	}
	return c.Communicators.At(world.Freed)
}

// TaskItems bounds the items of the ready queue that are agents. LPs are items from 0 on, agent i
// is item ^i, and the instance of task i is item ^(TaskItems + i).
const TaskItems = 1 << 30

// task is an instance in the ready queue.
type task struct {
	instance *instance
	stalled  bool         // it waits for room to send clocks
	blocks   *consignment // nil unless the task sends blocks
	rounds   bool         // it carries on rounds whose messages travel between engines
}

// queueAgent queues an agent before all ready items. The memory of a message is then still in the
// cache when its receiver goes on, and a tree is traversed branch by branch. Agents that share a
// processor go on in the order in which they were queued, since that is the order of their
// operations of one instant.
func (c *Collectives) queueAgent(index int32) {
	if c.Messages.Processors != nil {
		c.partition.Engine.Ready(^index)
		return
	}
	c.partition.Engine.ReadyFirst(^index)
}

// queue queues an instance.
func (c *Collectives) queue(inst *instance) { c.partition.Engine.Ready(c.item(task{instance: inst})) }

// item stores a task and returns its item of the ready queue.
func (c *Collectives) item(t task) int32 {
	var index int32
	if n := len(c.idle); n > 0 {
		index = c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.tasks[index] = t
	} else {
		index = int32(len(c.tasks))
		c.tasks = append(c.tasks, t)
	}
	return ^(TaskItems + index)
}

// RunTask carries an instance on until it must wait, and releases the task.
func (c *Collectives) RunTask(index int32) {
	t := c.tasks[index]
	c.tasks[index] = task{}
	c.idle = append(c.idle, index)
	if t.blocks != nil {
		c.sendBlocks(t.instance, t.blocks)
		return
	}
	if t.rounds {
		c.goOnRounds(t.instance)
		return
	}
	if t.stalled {
		t.instance.arrays.outbound.stalled = false
	}
	c.runBulk(t.instance)
}

// wake resumes an LP whose collective is over at instant t.
func (c *Collectives) wake(lp int32, t vtime.Time) {
	c.partition.Clock[lp] = t
	if c.partition.Strict {
		c.partition.Engine.Schedule(engine.Event{Time: t, Source: c.partition.Global(lp), LP: c.partition.Global(lp), Data: world.DataResume})
		return
	}
	c.partition.Engine.Ready(lp)
}
