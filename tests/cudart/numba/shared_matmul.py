"""The square roots of a matrix product, computed tile by tile in shared memory."""
import math

import numpy
from numba import cuda, float32

TILE = 16


@cuda.jit
def multiply(a, b, c):
    row, column = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[i, j] = a[row, start + j] if row < a.shape[0] and start + j < a.shape[1] else 0
        tile_b[i, j] = b[start + i, column] if column < b.shape[1] and start + i < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[i, k] * tile_b[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = math.sqrt(total)


a = numpy.random.default_rng(1).random((50, 40), dtype=numpy.float32)
b = numpy.random.default_rng(2).random((40, 30), dtype=numpy.float32)
c = numpy.zeros((50, 30), numpy.float32)
multiply[(4, 2), (TILE, TILE)](a, b, c)
assert numpy.allclose(c, numpy.sqrt(a @ b), rtol=1e-5)
print("ok")
