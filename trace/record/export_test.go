package record

// Counted returns the source of the functions that are only counted, from a preprocessed mpi.h.
func Counted(header string) (string, error) {
	all, err := prototypes(header)
	return counted(all), err
}
