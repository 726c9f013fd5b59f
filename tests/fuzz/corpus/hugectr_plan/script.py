import hugectr
shard_matrix = [['a', 'b'], ['a']]  # ranks
shard_strategy = [('mp', [('a', 2)]), ('dp', ['b',])]
compression_strategy = {hugectr.CompressionStrategy.Unique: ['a']}
