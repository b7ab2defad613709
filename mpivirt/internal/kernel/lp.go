package kernel

// None is the number of no LP.
const None = -1
