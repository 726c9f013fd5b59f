"""Forward, backward and row-wise update of torch.nn.functional.embedding_bag on the shapes of the
packed check's benchmarks: 65,536 bags of 20 ids, dim 128, 8 Mi rows, several input sets. Prints the
median in ms, timed by CUDA events."""

import statistics

import torch

BAGS, IDS, DIM, ROWS, SETS, ROUNDS = 65536, 20, 128, 8 << 20, 4, 20


def main():
    torch.manual_seed(7)
    weight = torch.zeros(ROWS, DIM, device="cuda", requires_grad=True)
    state = torch.zeros(ROWS, device="cuda")
    offsets = torch.arange(0, BAGS * IDS, IDS, device="cuda")
    sets = [torch.randint(ROWS, (BAGS * IDS,), device="cuda") for _ in range(SETS)]
    gradient = torch.randn(BAGS, DIM, device="cuda")
    times = []
    for number in range(SETS + ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        weight.grad = None
        begin.record()
        out = torch.nn.functional.embedding_bag(
            sets[number % SETS], weight, offsets, mode="sum", sparse=True)
        out.backward(gradient)
        with torch.no_grad():
            grad = weight.grad.coalesce()
            rows, values = grad.indices()[0], grad.values()
            state[rows] += values.square().mean(dim=1)
            weight[rows] -= 0.01 * values / (state[rows].sqrt() + 1e-8).unsqueeze(1)
        end.record()
        end.synchronize()
        if number >= SETS:
            times.append(begin.elapsed_time(end))
    print(f"  forward, backward, update      {statistics.median(times):.3f} ms (torch {torch.__version__})")


main()
