// Managed memory: a list that the host links and a kernel walks, and managed variables.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int total;
__managed__ double weights[3] = {0.5, 2, 8};

__global__ void walk(const Node *first) {
    double sum = 0;
    int place = 0;
    for (const Node *node = first; node; node = node->next)
        sum += node->value * weights[place++ % 3];
    total += (int)sum;
}

int main() {
    const int length = 20;
    Node *first = nullptr;
    total = 100;
    for (int i = length; i > 0; i--) {
        Node *node;
        CHECK(cudaMallocManaged(&node, sizeof(Node)));
        *node = Node{i * 2, first};
        first = node;
    }
    weights[2] = 4;
    walk<<<1, 1>>>(first);
    CHECK(cudaDeviceSynchronize());
    double sum = 0, expected[] = {0.5, 2, 4};
    for (int i = 1; i <= length; i++)
        sum += i * 2 * expected[(i - 1) % 3];
    EXPECT(total == 100 + (int)sum);
    while (first) {
        Node *next = first->next;
        CHECK(cudaFree(first));
        first = next;
    }
    return passed();
}
