package world

// Contents of these lengths CopyContent copies side by side.
const (
	leastSideBySide = 2 * PageBytes
	belowSideBySide = 8 * PageBytes
)

// PageBytes is the size of the pages of memory, at whose ends processors stop to fetch ahead.
const PageBytes = 4096

// CopyContent is copy for the content of a message. It copies a content of few pages two pages at a
// time, side by side: a processor fetches lines ahead up to the end of a page, so that two pages in
// memory take a fifth less time together than one after the other. Over more pages it learns to go on,
// and copy is as fast.
func CopyContent(to, from []byte) {
	n := min(len(to), len(from))
	if n >= leastSideBySide && n < belowSideBySide && !Overlap(to[:n], from[:n]) {
		done := copySideBySide(to[:n], from[:n])
		to, from = to[done:], from[done:]
	}
	copy(to, from)
}
