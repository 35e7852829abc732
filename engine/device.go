package engine

// Device says which GPU a job may use, and how much of its memory. The zero value
// is the first one, and most of what is free on it.
type Device struct {
	Ordinal int   // the GPU's number, as `collocate gpu` lists them
	Memory  int64 // bytes; 0: most of what is free
}
