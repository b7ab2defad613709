// Package training describes the data-parallel training of neural networks: models as tables of layers, and what a rank computes and
// sums up over all ranks in a step.
//
// # Model
//
// A [Model] is a list of layers in the order of the forward pass, each with its parameters and the floating-point operations of its
// forward pass. Models are files in YAML, and some published ones come along. A [Plan] cuts the gradients of a model into buckets, as
// DistributedDataParallel of PyTorch does (S. Li and others, PyTorch Distributed, VLDB 2020, https://arxiv.org/abs/2006.15704,
// section 3.2; torch/csrc/distributed/c10d/reducer.cpp): the layers are taken in reverse order, and a bucket is full with the layer by
// which it reaches its limit. The first bucket has a limit of its own, so that communication begins early.
//
// Backward takes twice the operations of forward: one product for the gradients of the inputs, one for those of the parameters. A
// layer's gradients are there when its backward is over. The optimiser is bound by memory: Adam reads and writes 28 bytes a
// parameter, in single and in mixed precision.
//
// # Invariants
//
//   - Times are whole picoseconds, computed without floating point.
//   - Each parameter is in one bucket; buckets are ready one after the other.
package training
