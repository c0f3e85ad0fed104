// A class with operators that host and device share.
#include "check.h"

class Complex {
  public:
    __host__ __device__ Complex(double re = 0, double im = 0) : re(re), im(im) {}
    __host__ __device__ Complex operator+(const Complex &b) const {
        return Complex(re + b.re, im + b.im);
    }
    __host__ __device__ Complex operator*(const Complex &b) const {
        return Complex(re * b.re - im * b.im, re * b.im + im * b.re);
    }
    __host__ __device__ double norm() const { return re * re + im * im; }

  private:
    double re, im;
};

__host__ __device__ int escape(Complex c, int most) {
    Complex z;
    int step = 0;
    while (step < most && z.norm() < 4) {
        z = z * z + c;
        step++;
    }
    return step;
}

const int WIDTH = 48, HEIGHT = 32;

__host__ __device__ Complex place(int x, int y) {
    return Complex(-2 + 2.5 * x / WIDTH, -1 + 2.0 * y / HEIGHT);
}

__global__ void render(int *image, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    image[y * WIDTH + x] = escape(place(x, y), most);
}

int main() {
    static int image[HEIGHT][WIDTH];
    int *device, different = 0;
    CHECK(cudaMalloc(&device, sizeof image));
    render<<<dim3(WIDTH / 16, HEIGHT / 8), dim3(16, 8)>>>(device, 40);
    CHECK(cudaMemcpy(image, device, sizeof image, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            different += image[y][x] != escape(place(x, y), 40);
    EXPECT(different <= 2); /* the device fuses multiplications and additions */
    return passed();
}
