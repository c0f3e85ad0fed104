/* The device side of CUDA C, so that clang compiles a kernel to PTX without a toolkit: qualifiers,
 * built-in variables, barriers, fences, atomics, warp functions, integer and floating-point
 * functions, half, printf, assert and the device heap. Under nvcc the vendor's own definitions are
 * used instead, so a kernel that includes this header and uses nothing else compiles with both.
 *
 * Not supported: textures, cooperative groups, matrix instructions, and all functions of the C
 * library that are not in the files below. Names and meanings follow the CUDA C++ Programming
 * Guide. */
#ifndef TYTO_DEVICE_H
#define TYTO_DEVICE_H

#ifdef __NVCC__
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#else
#include "tyto_device/language.h"
#include "tyto_device/vector.h"
#include "tyto_device/integer.h"
#include "tyto_device/sync.h"
#include "tyto_device/atomic.h"
#include "tyto_device/warp.h"
#include "tyto_device/math_special.h"
#include "tyto_device/rounded.h"
#include "tyto_device/simd.h"
#include "tyto_device/half.h"
#include "tyto_device/system.h"
#endif

#endif
