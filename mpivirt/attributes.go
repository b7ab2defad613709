package mpivirt

import (
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// Keyval is a key of attributes that ranks cache on communicators (MPI_Comm_create_keyval). All
// ranks may share one. A function that is nil does nothing.
type Keyval struct {
	// Copy returns the attribute of a duplicate, from that of the communicator c, and whether
	// the duplicate has one. It is called by Dup (comm_copy_attr_fn).
	Copy func(c *Comm, value any) (copied any, keep bool, err error)
	// Delete is called before an attribute is deleted or replaced, by Free, and at the end of a
	// rank for those of SELF (comm_delete_attr_fn). An error keeps the attribute.
	Delete func(c *Comm, value any) error
}

// CopyAttribute is a Copy that gives a duplicate the same attribute (MPI_COMM_DUP_FN).
func CopyAttribute(_ *Comm, value any) (copied any, keep bool, err error) { return value, true, nil }

// cache is what a rank has cached on a communicator.
type cache struct {
	name       string
	attributes []attribute // in the order in which they were set
}

type attribute struct {
	key   *Keyval
	value any
}

// cached returns the rank's cache on the communicator, nil if there is none.
func (c *Comm) cached() *cache {
	k := c.r.k
	if kept, has := k.Caches[kernel.CacheKey{LP: c.r.lp, Comm: c.c.Index}]; has {
		return kept.(*cache)
	}
	return nil
}

// caching returns the rank's cache on the communicator, a new one if there is none.
func (c *Comm) caching() *cache {
	kept := c.cached()
	if kept == nil {
		kept = &cache{}
		if c.r.k.Caches == nil {
			c.r.k.Caches = map[kernel.CacheKey]any{}
		}
		c.r.k.Caches[kernel.CacheKey{LP: c.r.lp, Comm: c.c.Index}] = kept
	}
	return kept
}

// at returns the place of a key among the attributes, -1 if it has none.
func (kept *cache) at(key *Keyval) int {
	if kept == nil {
		return -1
	}
	return slices.IndexFunc(kept.attributes, func(a attribute) bool { return a.key == key })
}

// checkKey returns the error of a call with a key, nil if it has none.
func (c *Comm) checkKey(op world.Procedure, key *Keyval) error {
	switch {
	case c == nil:
		return world.NoComm(op)
	case c.c.Index == world.Freed:
		return world.Errorf(ErrComm, "%s", c.c)
	case key == nil:
		return world.Errorf(ErrKeyval, "no key: give a Keyval of the program")
	}
	return nil
}

// SetAttribute caches a value under a key (MPI_Comm_set_attr), in the place of an earlier one.
// Errors: ErrComm, ErrKeyval; that of Delete.
func (c *Comm) SetAttribute(key *Keyval, value any) error {
	if err := c.checkKey(world.CommSetAttribute, key); err != nil {
		return err
	}
	kept := c.caching()
	i := kept.at(key)
	if i < 0 {
		kept.attributes = append(kept.attributes, attribute{key, value})
		return nil
	}
	if err := key.delete(c, kept.attributes[i].value); err != nil {
		return err
	}
	kept.attributes[i].value = value
	return nil
}

// Attribute returns the value under a key, and whether there is one (MPI_Comm_get_attr).
func (c *Comm) Attribute(key *Keyval) (value any, has bool) {
	if err := c.checkKey(world.CommAttribute, key); err != nil {
		world.Throw(err)
	}
	kept := c.cached()
	if i := kept.at(key); i >= 0 {
		return kept.attributes[i].value, true
	}
	return nil, false
}

// DeleteAttribute deletes the value under a key (MPI_Comm_delete_attr). Errors: ErrComm;
// ErrKeyval if there is none; that of Delete.
func (c *Comm) DeleteAttribute(key *Keyval) error {
	if err := c.checkKey(world.CommDeleteAttribute, key); err != nil {
		return err
	}
	kept := c.cached()
	i := kept.at(key)
	if i < 0 {
		return world.Errorf(ErrKeyval, "the communicator has no attribute under the key")
	}
	if err := key.delete(c, kept.attributes[i].value); err != nil {
		return err
	}
	kept.attributes = slices.Delete(kept.attributes, i, i+1)
	return nil
}

func (key *Keyval) delete(c *Comm, value any) error {
	if key.Delete == nil {
		return nil
	}
	return key.Delete(c, value)
}

// copyAttributes copies the attributes to a duplicate of the communicator.
func (c *Comm) copyAttributes(to *Comm) error {
	kept := c.cached()
	if kept == nil {
		return nil
	}
	for _, a := range kept.attributes {
		if a.key.Copy == nil {
			continue
		}
		copied, keep, err := a.key.Copy(c, a.value)
		if err != nil {
			return err
		}
		if keep {
			made := to.caching()
			made.attributes = append(made.attributes, attribute{a.key, copied})
		}
	}
	return nil
}

// deleteAttributes deletes what the rank has cached on the communicator, the latest attribute
// first, up to the first error.
func (c *Comm) deleteAttributes() error {
	kept := c.cached()
	if kept == nil {
		return nil
	}
	for i := len(kept.attributes) - 1; i >= 0; i-- {
		a := kept.attributes[i]
		if err := a.key.delete(c, a.value); err != nil {
			return err
		}
		kept.attributes = kept.attributes[:i]
	}
	delete(c.r.k.Caches, kernel.CacheKey{LP: c.r.lp, Comm: c.c.Index})
	return nil
}

// SetName gives the communicator a name for the rank (MPI_Comm_set_name).
func (c *Comm) SetName(name string) {
	if c == nil || c.c.Index == world.Freed {
		world.Throw(world.NoComm(world.CommSetName))
	}
	c.caching().name = name
}

// Name returns the name of the communicator (MPI_Comm_get_name). It is empty unless the rank
// has given one, but for WORLD and SELF.
func (c *Comm) Name() string {
	if c == nil || c.c.Index == world.Freed {
		world.Throw(world.NoComm(world.CommName))
	}
	kept := c.cached()
	switch {
	case kept != nil && kept.name != "":
		return kept.name
	case c.c.Index == world.World:
		return "MPI_COMM_WORLD"
	case c.c.Index == world.Self:
		return "MPI_COMM_SELF"
	}
	return ""
}
