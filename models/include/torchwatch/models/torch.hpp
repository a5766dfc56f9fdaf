#ifndef TORCHWATCH_MODELS_TORCH_HPP
#define TORCHWATCH_MODELS_TORCH_HPP

// The only place that names LibTorch's headers, and the precompiled header of every file that uses
// them: reading them costs some 15 s a file, compiled once they cost 6 s. A guard instead of
// `#pragma once`, which GCC warns about in a header that it compiles by itself.
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/cuda.h>
#include <torch/torch.h>
#include <torch/version.h>

// c10::getDeviceAllocator, the allocator's figures without any CUDA header, came with 2.9.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
#include <c10/core/CachingDeviceAllocator.h>
#define TORCHWATCH_HAS_DEVICE_ALLOCATOR 1
#else
#define TORCHWATCH_HAS_DEVICE_ALLOCATOR 0
#endif

#endif  // TORCHWATCH_MODELS_TORCH_HPP
