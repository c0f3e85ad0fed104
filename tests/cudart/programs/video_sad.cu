// Block matching of video, with the packed instructions for bytes: the sum of absolute differences
// of 8 x 8 blocks, and the number of bytes that differ.
#include "check.h"

#include <vector>

const int WIDTH = 64, HEIGHT = 32, BLOCK = 8, RANGE = 4;

static __device__ unsigned add_differences(unsigned a, unsigned b, unsigned sum) {
    unsigned result;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

static __device__ unsigned count_changes(unsigned a, unsigned b, unsigned sum) {
    unsigned result;
    asm("vset4.u32.u32.ne.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

// The average of the outer bytes of a word, by parts: (b3 + b0 + 1) / 2, in the low byte of `rest`.
static __device__ unsigned mean_of_ends(unsigned word, unsigned rest) {
    unsigned sum, result;
    asm("vadd.u32.u32.u32 %0, %1.b3, %1.b0;" : "=r"(sum) : "r"(word));
    asm("vshr.u32.u32.u32.clamp %0.b0, %1, %2, %3;"
        : "=r"(result)
        : "r"(sum + 1), "r"(1u), "r"(rest));
    return result;
}

__global__ void match(const unsigned char *now, const unsigned char *before, uint4 *out) {
    int bx = threadIdx.x, by = blockIdx.x, x0 = bx * BLOCK, y0 = by * BLOCK;
    uint4 best = make_uint4(0xffffffffu, 0, 0, 0);
    for (int dy = -RANGE; dy <= RANGE; dy++)
        for (int dx = -RANGE; dx <= RANGE; dx += 4) { // words stay aligned
            int x = x0 + dx, y = y0 + dy;
            if (x < 0 || y < 0 || x + BLOCK > WIDTH || y + BLOCK > HEIGHT) continue;
            unsigned sum = 0, changes = 0, ends = 0;
            for (int row = 0; row < BLOCK; row++)
                for (int word = 0; word < BLOCK; word += 4) {
                    unsigned a = *(const unsigned *)&now[(y0 + row) * WIDTH + x0 + word];
                    unsigned b = *(const unsigned *)&before[(y + row) * WIDTH + x + word];
                    sum = add_differences(a, b, sum);
                    changes = count_changes(a, b, changes);
                    ends = mean_of_ends(b, ends + 0x100);
                }
            if (sum < best.x)
                best = make_uint4(sum, changes, (unsigned)((dy + RANGE) * 16 + dx + RANGE), ends);
        }
    out[by * (WIDTH / BLOCK) + bx] = best;
}

static uint4 match_on_host(const std::vector<unsigned char> &now,
                           const std::vector<unsigned char> &before, int x0, int y0) {
    uint4 best = make_uint4(0xffffffffu, 0, 0, 0);
    for (int dy = -RANGE; dy <= RANGE; dy++)
        for (int dx = -RANGE; dx <= RANGE; dx += 4) {
            int x = x0 + dx, y = y0 + dy;
            if (x < 0 || y < 0 || x + BLOCK > WIDTH || y + BLOCK > HEIGHT) continue;
            unsigned sum = 0, changes = 0, ends = 0;
            for (int i = 0; i < BLOCK * BLOCK; i++) {
                int a = now[(y0 + i / BLOCK) * WIDTH + x0 + i % BLOCK];
                const unsigned char *b = &before[(y + i / BLOCK) * WIDTH + x + i % BLOCK];
                sum += (unsigned)std::abs(a - *b);
                changes += a != *b;
                if (i % 4 == 0) ends = ((ends + 0x100) & ~0xffu) | ((b[0] + b[3] + 1) / 2);
            }
            if (sum < best.x)
                best = make_uint4(sum, changes, (unsigned)((dy + RANGE) * 16 + dx + RANGE), ends);
        }
    return best;
}

int main() {
    std::vector<unsigned char> before(WIDTH * HEIGHT), now(before.size());
    unsigned state = 7;
    for (unsigned char &pixel : before)
        pixel = (unsigned char)next_random(state);
    for (int y = 0; y < HEIGHT; y++) // moved by (4, 2), with noise
        for (int x = 0; x < WIDTH; x++)
            now[y * WIDTH + x] =
                before[(y + 2) % HEIGHT * WIDTH + (x + 4) % WIDTH] ^ (next_random(state) % 8 == 0);
    const int blocks = (WIDTH / BLOCK) * (HEIGHT / BLOCK);
    unsigned char *d_now, *d_before;
    uint4 *d_out;
    std::vector<uint4> out(blocks);
    CHECK(cudaMalloc(&d_now, now.size()));
    CHECK(cudaMalloc(&d_before, before.size()));
    CHECK(cudaMalloc(&d_out, blocks * sizeof(uint4)));
    CHECK(cudaMemcpy(d_now, now.data(), now.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_before, before.data(), before.size(), cudaMemcpyHostToDevice));
    match<<<HEIGHT / BLOCK, WIDTH / BLOCK>>>(d_now, d_before, d_out);
    CHECK(cudaMemcpy(out.data(), d_out, blocks * sizeof(uint4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < blocks; i++) {
        uint4 want = match_on_host(now, before, i % (WIDTH / BLOCK) * BLOCK,
                                   i / (WIDTH / BLOCK) * BLOCK);
        EXPECT(out[i].x == want.x && out[i].y == want.y && out[i].z == want.z &&
               out[i].w == want.w);
    }
    return passed();
}
