package coll

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Communicator returns the one with an index; the freed one if it has been given up.
func (c *Collectives) Communicator(index int32) *Communicator {
	if comm := c.Communicators.At(index); comm != nil {
		return comm
	}
	return c.Communicators.At(world.Freed)
}

// TaskItems bounds the items of the ready queue that are agents. LPs are items from 0 on.
// Agent i is item ^i. The instance of task i is item ^(TaskItems + i).
const TaskItems = 1 << 30

// task is an instance in the ready queue.
type task struct {
	instance *instance
	stalled  bool         // it had no room to send clocks
	blocks   *consignment // nil unless it sends blocks
}

// queueAgent queues an agent to go on before all that is ready. What a message touches is
// then still in the cache when its receiver goes on, and a tree is gone through branch by
// branch. Agents that share a processor go on in the order in which they were queued: what they
// ask of it at one instant has that order.
func (c *Collectives) queueAgent(index int32) {
	if c.Messages.Processors != nil {
		c.partition.Engine.Ready(^index)
		return
	}
	c.partition.Engine.ReadyFirst(^index)
}

// queue queues an instance to go on.
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

// RunTask carries an instance on as far as it gets, and releases the task.
func (c *Collectives) RunTask(index int32) {
	t := c.tasks[index]
	c.tasks[index] = task{}
	c.idle = append(c.idle, index)
	if t.blocks != nil {
		c.sendBlocks(t.instance, t.blocks)
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
