#include "storage/import/trace/kernel_map.hpp"

namespace shardscope::storage {

// Sources: fbgemm_gpu/codegen/training/{forward,backward} and src/ (FBGEMM), HugeCTR/embedding/
// {operators,data_distributor,embedding_storage}, NCCL 2.28's kernel names, cuBLAS and CUTLASS
// names in published traces; read 2026-11.
std::string_view kernel_map_text() {
  return R"(# Names of kernels and annotated ranges -> stages. The first rule that matches counts.
# kernel PATTERN ROLE [WORK]     '*' stands for anything; a pattern may match anywhere in the name

# --- FBGEMM, table-batched embeddings
kernel dense_embedding*forward              model_forward          DP
kernel embedding_nobag*forward              model_forward          UB
kernel embedding*forward*nobag              model_forward          UB
kernel embedding*forward                    model_forward          RB
kernel bounds_check_indices                 model_forward          RB
kernel lxu_cache                            model_forward          RB
kernel embedding*backward*dense*find_long   index_calculation      DP
kernel embedding*backward*dense             local_reduce           DP
kernel embedding_nobag*backward*find_long   index_calculation      UB
kernel embedding_nobag*backward             local_reduce+update    UB
kernel embedding*backward*find_long         index_calculation      RB
kernel grad_indice_weights                  local_reduce           RB
kernel embedding*backward*kernel            local_reduce+update    RB
kernel embedding*backward                   local_reduce+update    RB
kernel linearize_index                      index_calculation      RB
kernel DeviceRadixSort                      index_calculation      RB
kernel rocprim*radix_sort                   index_calculation      RB
kernel DeviceRunLengthEncode                index_calculation      RB
kernel DeviceReduceByKey                    index_calculation      RB
kernel DeviceCompactInit                    index_calculation      RB
kernel permute_pooled_embs                  network                RB
kernel permute_embeddings                   network                RB
kernel permute_multi_embs                   network                RB
kernel permute_duplicate_pooled             network                RB
kernel FloatToFP8                           network                RB
kernel FP8*ToFloat                          network                RB
kernel ToBfloat16                           network                RB
kernel permute_2D                           input_dist             RB
kernel permute_1D                           input_dist             RB
kernel permute_indices                      input_dist             RB
kernel permute_lengths                      input_dist             RB
kernel block_bucketize                      input_dist             RB
kernel bucketize_sparse                     input_dist             RB
kernel populate_bucketized                  input_dist             RB
kernel keyed_jagged                         input_dist             RB
kernel expand_into_jagged                   input_dist             RB
kernel jagged_unique                        input_dist             UB
kernel segment_sum_csr                      input_dist             RB

# --- HugeCTR, embedding collection
kernel label_and_count_keys                 input_dist             RB
kernel count_keys_per_gpu                   input_dist             RB
kernel transpose_buckets                    input_dist             RB
kernel swizzle_keys                         input_dist             RB
kernel concat_keys                          input_dist             RB
kernel compute_bucket_range                 input_dist             RB
kernel partition_and_unique                 input_dist             UB
kernel cal_dst_ids                          index_calculation      RB
kernel segmented_unique                     index_calculation      RB
kernel DeviceSegmentedSort                  index_calculation      RB
kernel ada_grad_update                      update                 RB
kernel sgd_update                           update                 RB
kernel update4_kernel                       update                 RB
kernel ftrl_update                          update                 RB
kernel local_reduce                         local_reduce           RB
kernel one_to_one_atomic                    local_reduce           RB
kernel multi_to_one_reduce                  local_reduce           RB
kernel generic_lookup                       model_forward          RB
kernel multi_to_one                         model_forward          RB

# --- Collectives (by the annotation around them where there is one)
kernel nccl*AllReduce                       exchange
kernel nccl*SendRecv                        exchange
kernel nccl*AllToAll                        exchange
kernel nccl*Alltoall                        exchange
kernel nccl*ReduceScatter                   exchange
kernel nccl*AllGather                       exchange
kernel nccl*Broadcast                       exchange
kernel nccl                                 exchange

# --- Dense part
kernel gemm                                 dense
kernel cutlass                              dense
kernel cublas                               dense
kernel gemv                                 dense
kernel splitK                               dense
kernel sm80_xmma                            dense
kernel sm90_xmma                            dense
kernel nvjet                                dense
kernel Cijk_                                dense
kernel elementwise                          dense
kernel reduce_kernel                        dense
kernel CatArray                             dense
kernel layer_norm                           dense
kernel LayerNorm                            dense
kernel GammaBeta                            dense
kernel multi_tensor_apply                   dense
kernel softmax                              dense
kernel interact                             dense
kernel triton_                              dense
kernel dot_based_interaction                dense
kernel batch_norm                           dense
kernel index_elementwise                    dense
kernel indexSelect                          dense
kernel indexFunc                            dense
kernel at::native                           dense

# --- Ranges: annotations of TorchRec's pipelines, of PyTorch and of HugeCTR (NVTX)
range ProfilerStep#                         step
range alltoall_fwd                          network_forward
range reduce_scatter_fwd                    network_forward
range reduce_scatter_base_fwd               network_forward
range alltoall_bwd                          network_backward
range reduce_scatter_bwd                    network_backward
range all_gather_base_bwd                   network_backward
range allgather_bwd                         network_backward
range all2all_data                          input_dist
range sparse_data_dist                      input_dist
range wait_sparse_data_dist                 input_dist
range sdd_                                  input_dist
range KJTAllToAll                           input_dist
range KJTList                               input_dist
range SplitsAllToAll                        input_dist
range PooledEmbeddingsAwaitable             network_forward
range DDP.allreduce                         allreduce
range ## forward ##                         forward
range ## backward ##                        backward
range ## optimizer ##                       optimizer
range Optimizer.step                        optimizer
range DistributedDataParallel.forward       forward
range input_dist                            input_dist
range data_distributor                      input_dist
range ModelForward                          model_forward
range model_forward                         model_forward
range NetworkForward                        network_forward
range network_forward                       network_forward
range NetworkBackward                       network_backward
range network_backward                      network_backward
range IndexCalculation                      index_calculation
range index_calculation                     index_calculation
range LocalReduce                           local_reduce
range local_reduce                          local_reduce
range Allreduce                             allreduce
range allreduce                             allreduce
range dense_forward                         dense_forward
range dense_backward                        dense_backward
range update                                update
)";
}

}  // namespace shardscope::storage
