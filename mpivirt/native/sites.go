//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"strings"
	"sync"

	"gigarank/mpivirt/internal/kernel"
)

// sites are the places of calls of a program. The engines of a process share them.
type sites struct {
	lock      sync.Mutex
	libraries map[librarySite]kernel.Site
	places    []librarySite          // of libraries, by the number of the site
	texts     map[kernel.Site]string // that are known
}

// librarySite is a place in a library of the program's own.
type librarySite struct {
	file   string
	offset uint64
}

// inLibrary distinguishes numbers of places in libraries from offsets in the program.
const inLibrary kernel.Site = 1 << 63

// Site implements [kernel.Siter].
func (b *body) Site(lp int32) kernel.Site {
	s := slot(b.engine.sites, lp)
	if s.file == nil {
		return kernel.Site(s.offset)
	}
	all, at := &b.form.sites, librarySite{stringOf(s.file), uint64(s.offset)}
	all.lock.Lock()
	defer all.lock.Unlock()
	site, known := all.libraries[at]
	if !known {
		if all.libraries == nil {
			all.libraries = map[librarySite]kernel.Site{}
		}
		site = inLibrary | kernel.Site(len(all.places))
		all.libraries[at], all.places = site, append(all.places, at)
	}
	return site
}

// SiteText implements [kernel.Siter].
func (b *body) SiteText(s kernel.Site) string {
	all := &b.form.sites
	all.lock.Lock()
	defer all.lock.Unlock()
	text, known := all.texts[s]
	if !known {
		name, offset := b.form.path, uint64(s)
		if s >= inLibrary {
			at := all.places[s-inLibrary]
			name, offset = b.fileOf(at.file), at.offset
		}
		text = strings.TrimPrefix(b.placeOf(name, offset-1), " in ") // of the call, and not of what follows it
		if all.texts == nil {
			all.texts = map[kernel.Site]string{}
		}
		all.texts[s] = text
	}
	return text
}
