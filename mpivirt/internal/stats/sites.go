package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Site is a place of a program that calls MPI, as a kind of rank numbers it, the same on all engines; 0 if it is not known.
type Site uint64

// sites sum up calls by the place from which the program makes them, and by procedure. They take memory for each such place.
type sites struct {
	numbered map[numberedSite]*callRow // of the engine's ranks; nil if nothing is summed up
	named    map[namedSite]*callRow    // once places have their texts, which are the same on all engines

	late  map[numberedLate]*Total // of the engine's ranks: the time for late senders, by the place of their sends
	sends map[namedLate]*Total    // likewise, once the places that wait have their texts; senders of other engines may have none here
	texts map[Site]string         // of the places of the engines' ranks
}

type numberedSite struct {
	site      Site
	procedure uint8
}

type numberedLate struct {
	numberedSite
	sender Site
}

type namedLate struct {
	namedSite
	sender Site
}

type namedSite struct {
	place     string // "" if it is not known
	procedure uint8
}

func (k namedSite) compare(o namedSite) int {
	return cmp.Or(cmp.Compare(k.place, o.place), cmp.Compare(k.procedure, o.procedure))
}

// OpenSites has calls summed up by the places of the program that make them.
func (c *Calls) OpenSites() {
	c.sites.numbered, c.sites.late = map[numberedSite]*callRow{}, map[numberedLate]*Total{}
}

// NoteSite counts a call from a place, if calls are summed up by places. The message for which it has waited was sent from another place.
func (c *Calls) NoteSite(site, sender Site, procedure uint8, bytes int64, times *Causes) {
	if c.sites.numbered == nil {
		return
	}
	key := numberedSite{site, procedure}
	if late := times[LateSender]; late > 0 && sender != 0 {
		add(c.sites.late, numberedLate{key, sender}, Total{Low: uint64(late)})
	}
	row := c.sites.numbered[key]
	if row == nil {
		row = &callRow{}
		c.sites.numbered[key] = row
	}
	row.note(bytes, times)
}

// add adds a time to the sum of a key.
func add[K comparable](sums map[K]*Total, key K, t Total) {
	sum := sums[key]
	if sum == nil {
		sum = &Total{}
		sums[key] = sum
	}
	sum.Merge(t)
}

// NameSites has the places of calls known by their texts from now on.
func (c *Calls) NameSites(text func(s Site) string) {
	s := &c.sites
	s.open()
	for key, row := range s.numbered {
		place := ""
		if key.site != 0 {
			place = text(key.site)
			s.texts[key.site] = place
		}
		s.row(namedSite{place, key.procedure}).merge(row)
	}
	for key, late := range s.late {
		add(s.sends, namedLate{namedSite{s.texts[key.site], key.procedure}, key.sender}, *late)
	}
	s.numbered, s.late = nil, nil
}

// open makes the sums by places that have texts.
func (s *sites) open() {
	if s.named == nil {
		s.named, s.sends, s.texts = map[namedSite]*callRow{}, map[namedLate]*Total{}, map[Site]string{}
	}
}

// row returns the row of a key. It makes a missing row.
func (s *sites) row(key namedSite) *callRow {
	s.open()
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
	for key, late := range o.sends {
		add(s.sends, key, *late)
	}
	maps.Copy(s.texts, o.texts)
}

// SiteTimes sums up the calls of a procedure from a place of the program.
type SiteTimes struct {
	Place        string // function, file and line; "" if it is not known
	Procedure    uint8
	Count, Bytes uint64
	Times        [NumberOfCauses]Total
	Senders      []LateSends // the longest first, of equal times in the order of places
}

// LateSends is the time for which calls have waited for late senders whose sends come from a place of the program.
type LateSends struct {
	Place string // function, file and line; "" if it is not known
	Time  Total
}

// Sites returns the sums by place and procedure, in this order.
func (c *Calls) Sites() (all []SiteTimes) {
	for _, key := range slices.SortedFunc(maps.Keys(c.sites.named), namedSite.compare) {
		row := c.sites.named[key]
		all = append(all, SiteTimes{key.place, key.procedure, row.count, row.bytes, row.times, c.sites.senders(key)})
	}
	return all
}

// senders returns for which sends the calls of a key have waited.
func (s *sites) senders(key namedSite) (all []LateSends) {
	sums := map[string]*Total{}
	for of, late := range s.sends {
		if of.namedSite == key {
			add(sums, s.texts[of.sender], *late)
		}
	}
	for place, late := range sums {
		all = append(all, LateSends{place, *late})
	}
	slices.SortFunc(all, func(a, b LateSends) int {
		return cmp.Or(cmp.Compare(b.Time.High, a.Time.High), cmp.Compare(b.Time.Low, a.Time.Low), cmp.Compare(a.Place, b.Place))
	})
	return all
}

func (s *sites) append(b []byte) []byte {
	b = appendWords(b, uint64(len(s.named)))
	for _, key := range slices.SortedFunc(maps.Keys(s.named), namedSite.compare) {
		b = s.named[key].append(key.append(b))
	}
	b = appendWords(b, uint64(len(s.sends)))
	for _, key := range slices.SortedFunc(maps.Keys(s.sends), namedLate.compare) {
		late := s.sends[key]
		b = appendWords(key.append(b), uint64(key.sender), late.High, late.Low)
	}
	b = appendWords(b, uint64(len(s.texts)))
	for _, site := range slices.Sorted(maps.Keys(s.texts)) {
		b = append(appendWords(b, uint64(site), uint64(len(s.texts[site]))), s.texts[site]...)
	}
	return b
}

func (k namedSite) append(b []byte) []byte {
	return append(appendWords(b, uint64(k.procedure), uint64(len(k.place))), k.place...)
}

func (k namedLate) compare(o namedLate) int {
	return cmp.Or(k.namedSite.compare(o.namedSite), cmp.Compare(k.sender, o.sender))
}

func (s *sites) read(r *reader) {
	*s = sites{}
	for range r.word() {
		s.row(readSite(r)).read(r)
	}
	for range r.word() {
		key := namedLate{readSite(r), Site(r.word())}
		add(s.sends, key, Total{r.word(), r.word()})
	}
	for range r.word() {
		site, n := Site(r.word()), r.word()
		s.texts[site], r.b = string(r.b[:n]), r.b[n:]
	}
}

func readSite(r *reader) (k namedSite) {
	procedure, n := uint8(r.word()), r.word()
	k = namedSite{string(r.b[:n]), procedure}
	r.b = r.b[n:]
	return k
}
