"""Two gloo ranks train a DLRM with an exported plan; every shard they hold is compared with it.

usage: check_torchrec.py FOLDER   (plan.json, plan.py and model.json; writes printed.txt there)
"""
import json
import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

RANKS = 2
STEPS = 20


def model_of(workload):
    from torchrec.models.dlrm import DLRM, DLRMTrain
    from torchrec.modules.embedding_configs import EmbeddingBagConfig
    from torchrec.modules.embedding_modules import EmbeddingBagCollection

    tables = [
        EmbeddingBagConfig(
            name=table["name"],
            num_embeddings=table["rows"],
            embedding_dim=table["dim"],
            feature_names=[table["name"]],
        )
        for table in workload["tables"]
    ]
    dlrm = DLRM(
        embedding_bag_collection=EmbeddingBagCollection(tables=tables),
        dense_in_features=workload["dense_features"],
        dense_arch_layer_sizes=workload["bottom_mlp"],
        over_arch_layer_sizes=workload["top_mlp"],
    )
    return DLRMTrain(dlrm)


def batch_of(workload, generator):
    from torchrec.datasets.utils import Batch
    from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

    samples = workload["global_batch"] // RANKS
    ids = []
    lengths = []
    for table in workload["tables"]:
        count = samples * table["hotness"]
        ids.append(torch.randint(0, table["rows"], (count,), generator=generator))
        lengths.append(torch.full((samples,), table["hotness"], dtype=torch.int32))
    return Batch(
        dense_features=torch.rand(samples, workload["dense_features"], generator=generator),
        sparse_features=KeyedJaggedTensor(
            keys=[table["name"] for table in workload["tables"]],
            values=torch.cat(ids),
            lengths=torch.cat(lengths),
        ),
        labels=torch.randint(0, 2, (samples,), generator=generator),
    )


def held_shards(module):
    """{table: [[offsets, sizes], ...]} that this rank holds, from the sharded state."""
    held = {}
    for name, value in module.state_dict().items():
        if "embedding_bags" not in name:
            continue
        table = name.split(".")[-2]
        if hasattr(value, "local_shards"):
            shards = value.local_shards()
            held[table] = [
                [list(one.metadata.shard_offsets), list(one.metadata.shard_sizes)] for one in shards
            ]
        else:
            held[table] = [[[0] * value.dim(), list(value.shape)]]
    return held


def expected_shards(entry, rows, dim, rank):
    if entry["sharding_type"] == "data_parallel":
        return [[[0, 0], [rows, dim]]]
    return [
        [shard["shard_offsets"], shard["shard_sizes"]]
        for shard in entry["shards"]
        if shard["placement"].startswith(f"rank:{rank}/")
    ]


def train(rank, folder, port):
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(RANKS),
        LOCAL_RANK=str(rank),
        LOCAL_WORLD_SIZE=str(RANKS),
        MASTER_ADDR="localhost",
        MASTER_PORT=str(port),
    )
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    sys.path.insert(0, folder)
    import plan as exported
    from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder
    from torchrec.distributed.model_parallel import DistributedModelParallel

    workload = json.loads(pathlib.Path(folder, "model.json").read_text())
    torch.manual_seed(1)
    sharding = exported.sharding_plan(device="cpu")
    model = DistributedModelParallel(
        module=model_of(workload),
        device=torch.device("cpu"),
        plan=sharding,
        sharders=[EmbeddingBagCollectionSharder()],
    )
    optimizer = torch.optim.SGD(
        [parameter for parameter in model.parameters() if parameter.requires_grad], lr=0.5
    )
    generator = torch.Generator().manual_seed(rank + 1)
    batch = batch_of(workload, generator)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss, _ = model(batch)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / RANKS)

    written = json.loads(pathlib.Path(folder, "plan.json").read_text())["plan"]
    entries = {table: entry for tables in written.values() for table, entry in tables.items()}
    held = held_shards(model)
    different = 0
    for table in workload["tables"]:
        name = table["name"]
        expected = expected_shards(entries[name], table["rows"], table["dim"], rank)
        found = sorted(held.get(name, []))
        if found != sorted(expected):
            different += 1
            print(f"rank {rank}  {name}: holds {found}, the layout says {expected}", flush=True)
        else:
            print(f"rank {rank}  {name}: {found}", flush=True)
    if rank == 0:
        print(f"loss {losses[0]:.5f} -> {losses[-1]:.5f} in {STEPS} steps", flush=True)
        pathlib.Path(folder, "printed.txt").write_text(str(model.plan) + "\n")
    dist.barrier()
    dist.destroy_process_group()
    if different > 0:
        raise SystemExit(f"rank {rank}: {different} tables lie elsewhere than the layout says")
    if not losses[-1] < losses[0]:
        raise SystemExit("the loss did not fall")


def main():
    folder = str(pathlib.Path(sys.argv[1]).resolve())
    port = 20000 + os.getpid() % 20000
    processes.spawn(train, args=(folder, port), nprocs=RANKS)
    print("every rank holds what the layout says")


if __name__ == "__main__":
    main()
