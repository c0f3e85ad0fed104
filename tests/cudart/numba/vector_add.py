"""The sum of two vectors, from host arrays and from arrays on the device."""
import numpy
from numba import cuda


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


n = 1000
x = numpy.arange(n, dtype=numpy.float32)
y = numpy.full(n, 2, dtype=numpy.float32)
out = numpy.zeros_like(x)
add[(n + 127) // 128, 128](x, y, out)
assert (out == x + y).all()

on_device = cuda.to_device(out)
add[(n + 127) // 128, 128, cuda.stream()](on_device, cuda.to_device(y), on_device)
cuda.synchronize()
assert (on_device.copy_to_host() == x + 2 * y).all()
print("ok")
