package coll

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Communicator returns the one with an index; the freed one if it has been given up.
func (k *Collectives) Communicator(index int32) *Communicator {
	if c := k.Communicators.At(index); c != nil {
		return c
	}
	return k.Communicators.At(world.Freed)
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
func (k *Collectives) queueAgent(index int32) {
	if k.Processors != nil {
		k.Engine.Ready(^index)
		return
	}
	k.Engine.ReadyFirst(^index)
}

// queue queues an instance to go on.
func (k *Collectives) queue(inst *instance) { k.Engine.Ready(k.item(task{instance: inst})) }

// item stores a task and returns its item of the ready queue.
func (k *Collectives) item(t task) int32 {
	var index int32
	if n := len(k.idle); n > 0 {
		index = k.idle[n-1]
		k.idle = k.idle[:n-1]
		k.tasks[index] = t
	} else {
		index = int32(len(k.tasks))
		k.tasks = append(k.tasks, t)
	}
	return ^(TaskItems + index)
}

// RunTask carries an instance on as far as it gets, and releases the task.
func (k *Collectives) RunTask(index int32) {
	t := k.tasks[index]
	k.tasks[index] = task{}
	k.idle = append(k.idle, index)
	if t.blocks != nil {
		k.sendBlocks(t.instance, t.blocks)
		return
	}
	if t.stalled {
		t.instance.arrays.outbound.stalled = false
	}
	k.runBulk(t.instance)
}

// wake resumes an LP whose collective is over at instant t.
func (k *Collectives) wake(lp int32, t vtime.Time) {
	k.Clock[lp] = t
	if k.Strict {
		k.Engine.Schedule(engine.Event{Time: t, Source: k.Global(lp), LP: k.Global(lp), Data: world.DataResume})
		return
	}
	k.Engine.Ready(lp)
}
