//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"hash/fnv"
	"strings"
	"sync"

	"gigarank/mpivirt/internal/kernel"
)

// sites are the places of calls of a program. The engines of a process share them.
type sites struct {
	lock   sync.Mutex
	places map[kernel.Site]librarySite // of libraries
	texts  map[kernel.Site]string      // that are known
}

// librarySite is a place in a library of the program's own.
type librarySite struct {
	file   string
	offset uint64
}

// inLibrary distinguishes numbers of places in libraries from offsets in the program.
const inLibrary kernel.Site = 1 << 63

// number returns the number of a place, which is the same in all processes: a hash of the file's name, and the offset.
func (at librarySite) number() kernel.Site {
	h := fnv.New64a()
	_, _ = h.Write([]byte(at.file))
	return inLibrary | kernel.Site(h.Sum64()<<32^at.offset)
}

// Site implements [kernel.Siter].
func (b *body) Site(lp int32) kernel.Site {
	s := slot(b.engine.sites, lp)
	if s.file == nil {
		return kernel.Site(s.offset)
	}
	all, at := &b.form.sites, librarySite{b.fileOf(stringOf(s.file)), uint64(s.offset)}
	site := at.number()
	all.lock.Lock()
	defer all.lock.Unlock()
	if all.places == nil {
		all.places = map[kernel.Site]librarySite{}
	}
	all.places[site] = at
	return site
}

// Called implements [kernel.Caller]. A call by a library of the program's own has no place.
func (b *body) Called(lp int32) kernel.Site {
	if c := b.ranks[lp].call; c != nil {
		return kernel.Site(c.called)
	}
	return 0
}

// SiteText implements [kernel.Caller].
func (b *body) SiteText(s kernel.Site) string {
	all := &b.form.sites
	all.lock.Lock()
	defer all.lock.Unlock()
	text, known := all.texts[s]
	if !known {
		name, offset := b.form.path, uint64(s)
		if s >= inLibrary {
			at := all.places[s]
			name, offset = at.file, at.offset
		}
		text = strings.TrimPrefix(b.placeOf(name, offset-1), " in ") // of the call, and not of what follows it
		if all.texts == nil {
			all.texts = map[kernel.Site]string{}
		}
		all.texts[s] = text
	}
	return text
}
