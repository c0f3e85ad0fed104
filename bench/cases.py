"""The runs whose cost is compared between builds (compare) and recorded for commits (history). They are small enough to
count every instruction, and cover every layer, both ways to run a kernel, and the papers' policies."""
import collections

# The name, one word; a description; the workload and its size; options of the simulator.
Case = collections.namedtuple("Case", "name what workload size options")
CASES = (
    Case("functional-matmul", "matmul 128 x 128, functional", "matmul", 128, "--functional"),
    Case("functional-spmv", "SpMV of 16,384 rows, functional", "spmv", 16384, "--functional"),
    Case("functional-bfs", "bfs of 32,768 nodes, functional", "bfs", 32768, "--functional"),
    Case("vecadd", "vecadd of 16,384 elements on gtx480", "vecadd", 16384, "--machine gtx480"),
    Case("matmul", "matmul 96 x 96 on gtx480", "matmul", 96, "--machine gtx480"),
    Case("bfs", "bfs of 1,024 nodes on gtx480", "bfs", 1024, "--machine gtx480"),
    Case("spmv", "SpMV of 1,024 rows on gtx480", "spmv", 1024, "--machine gtx480"),
    Case("reduction", "reduction of 32,768 elements on gtx480", "reduction", 32768, "--machine gtx480"),
    Case("owl", "SpMV of 1,024 rows on owl, policy owl", "spmv", 1024, "--machine owl --scheduler owl"),
    Case("ccws", "SpMV of 1,024 rows on ccws, policy ccws", "spmv", 1024, "--machine ccws --scheduler ccws"),
    Case("pro", "matmul 64 x 64 on pro, policy pro", "matmul", 64, "--machine pro --scheduler pro"),
    Case("md", "SpMV of 1,024 rows on md, CTA policy md", "spmv", 1024, "--machine md --cta-scheduler md"),
    Case("qv100", "vecadd of 16,384 elements on qv100, 80 SMs", "vecadd", 16384, "--machine qv100 --memory 1G"),
)


def cases_named(names):
    """The cases with these names, in the table's order; all cases if there are no names. Raises ValueError for an
    unknown name."""
    unknown = set(names) - {case.name for case in CASES}
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]}: no such run; there are {', '.join(case.name for case in CASES)}")
    return [case for case in CASES if not names or case.name in names]
