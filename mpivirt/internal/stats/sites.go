package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Site is a place of a program that calls MPI, as a kind of rank numbers it; 0 if it is not known.
type Site uint64

// sites sum up calls by the place from which the program makes them, and by procedure. They take memory for each such place.
type sites struct {
	numbered map[numberedSite]*callRow // of the engine's ranks; nil if nothing is summed up
	named    map[namedSite]*callRow    // once places have their texts, which are the same on all engines
}

type numberedSite struct {
	site      Site
	procedure uint8
}

type namedSite struct {
	place     string // "" if it is not known
	procedure uint8
}

func (k namedSite) compare(o namedSite) int {
	return cmp.Or(cmp.Compare(k.place, o.place), cmp.Compare(k.procedure, o.procedure))
}

// OpenSites has calls summed up by the places of the program that make them.
func (c *Calls) OpenSites() { c.sites.numbered = map[numberedSite]*callRow{} }

// NoteSite counts a call from a place, if calls are summed up by places.
func (c *Calls) NoteSite(site Site, procedure uint8, bytes int64, times *Causes) {
	if c.sites.numbered == nil {
		return
	}
	key := numberedSite{site, procedure}
	row := c.sites.numbered[key]
	if row == nil {
		row = &callRow{}
		c.sites.numbered[key] = row
	}
	row.note(bytes, times)
}

// NameSites has the places of calls known by their texts from now on.
func (c *Calls) NameSites(text func(s Site) string) {
	for key, row := range c.sites.numbered {
		place := ""
		if key.site != 0 {
			place = text(key.site)
		}
		c.sites.row(namedSite{place, key.procedure}).merge(row)
	}
	c.sites.numbered = nil
}

// row returns the row of a key. It makes a missing row.
func (s *sites) row(key namedSite) *callRow {
	if s.named == nil {
		s.named = map[namedSite]*callRow{}
	}
	row := s.named[key]
	if row == nil {
		row = &callRow{}
		s.named[key] = row
	}
	return row
}

func (s *sites) merge(o *sites) {
	for key, row := range o.named {
		s.row(key).merge(row)
	}
}

// SiteTimes sums up the calls of a procedure from a place of the program.
type SiteTimes struct {
	Place        string // function, file and line; "" if it is not known
	Procedure    uint8
	Count, Bytes uint64
	Times        [NumberOfCauses]Total
}

// Sites returns the sums by place and procedure, in this order.
func (c *Calls) Sites() (all []SiteTimes) {
	for _, key := range slices.SortedFunc(maps.Keys(c.sites.named), namedSite.compare) {
		row := c.sites.named[key]
		all = append(all, SiteTimes{key.place, key.procedure, row.count, row.bytes, row.times})
	}
	return all
}

func (s *sites) append(b []byte) []byte {
	b = appendWords(b, uint64(len(s.named)))
	for _, key := range slices.SortedFunc(maps.Keys(s.named), namedSite.compare) {
		b = append(appendWords(b, uint64(key.procedure), uint64(len(key.place))), key.place...)
		b = s.named[key].append(b)
	}
	return b
}

func (s *sites) read(r *reader) {
	*s = sites{}
	for range r.word() {
		procedure, n := uint8(r.word()), r.word()
		place := string(r.b[:n])
		r.b = r.b[n:]
		s.row(namedSite{place, procedure}).read(r)
	}
}
