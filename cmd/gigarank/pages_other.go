//go:build !linux

package main

// populate does nothing here: each page comes with its first touch.
func populate([]byte) {}

// askForHugePages does nothing here: memory stays as it is, which costs time only.
func askForHugePages([]byte) {}
