#include "layout/models.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "layout/json.hpp"
#include "tests/shared_data.hpp"

namespace shardscope {
namespace {

TEST(Models, EveryNameGivesACompleteWorkload) {
  const std::vector<std::string> names = model_names();
  EXPECT_EQ(names, (std::vector<std::string>{"dcnv2", "t180", "t200", "t510", "criteo-kaggle",
                                             "criteo-terabyte", "rm1", "rm2", "rm3", "merlin-tiny",
                                             "merlin-small"}));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto workload = model_by_name(name);
    ASSERT_TRUE(workload);
    EXPECT_EQ(workload->name, name);
    EXPECT_FALSE(workload->source.empty());
    EXPECT_GT(workload->global_batch, 0);
    EXPECT_NE(workload->dense.interaction, Interaction::none);
    EXPECT_EQ(workload->dense.top_mlp.back(), 1);
    std::set<std::string> table_names;
    for (const Table& table : workload->tables) EXPECT_TRUE(table_names.insert(table.name).second);
  }
}

TEST(Models, UnknownNamesListWhatExistsAndTheNearest) {
  const auto workload = model_by_name("dcnv3");
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().kind, ErrorKind::usage);
  EXPECT_NE(workload.error().expected.find("merlin-small"), std::string::npos);
  EXPECT_EQ(workload.error().cure, "Did you mean dcnv2?");
}

struct PublishedTotals {
  const char* name;
  std::size_t tables;
  double parameters;  ///< rows x dim
  std::int64_t hotness;
  std::int64_t dims;
};

TEST(Models, TotalsAreThoseOfTheResearchTable) {
  for (const PublishedTotals& totals : {PublishedTotals{"dcnv2", 26, 26.14e9, 214, 3328},
                                        PublishedTotals{"t180", 177, 66.3e9, 14450, 19200},
                                        PublishedTotals{"t200", 200, 103.9e9, 4550, 24320},
                                        PublishedTotals{"t510", 510, 114.6e9, 2670, 65280}}) {
    SCOPED_TRACE(totals.name);
    const Workload workload = *model_by_name(totals.name);
    double parameters = 0;
    std::int64_t hotness = 0;
    for (const Table& table : workload.tables) {
      parameters += static_cast<double>(table.rows) * table.dim;
    }
    for (const Feature& feature : workload.features) hotness += feature.hotness.maximum;
    EXPECT_EQ(workload.tables.size(), totals.tables);
    EXPECT_NEAR(parameters / totals.parameters, 1, 0.001);
    EXPECT_EQ(hotness, totals.hotness);
    EXPECT_EQ(interaction_width(workload), totals.dims);
  }
}

class PublishedModel : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(PublishedModel, HasTheTablesOfItsSpecification) {
  SHARDSCOPE_SHARED_DATA(text, std::string("specs/") + GetParam().second + ".json");
  const auto published = workload_from_json(text, GetParam().second);
  ASSERT_TRUE(published) << to_string(published.error());
  const Workload built = *model_by_name(GetParam().first);
  ASSERT_EQ(built.tables.size(), published->tables.size());
  for (std::size_t t = 0; t < built.tables.size(); ++t) {
    EXPECT_EQ(built.tables[t].name, published->tables[t].name);
    EXPECT_EQ(built.tables[t].rows, published->tables[t].rows) << t;
    EXPECT_EQ(built.tables[t].dim, published->tables[t].dim) << t;
    EXPECT_EQ(built.tables[t].optimizer.kind, published->tables[t].optimizer.kind);
  }
  EXPECT_EQ(built.features, published->features);
  if (published->global_batch > 0) {
    EXPECT_EQ(built.global_batch, published->global_batch);
  }
  if (!published->dense.bottom_mlp.empty()) {
    EXPECT_EQ(built.dense.bottom_mlp, published->dense.bottom_mlp);
    EXPECT_EQ(built.dense.dense_features, published->dense.dense_features);
  }
  if (!published->dense.top_mlp.empty()) {
    EXPECT_EQ(built.dense.top_mlp, published->dense.top_mlp);
  }
  if (published->dense.interaction == Interaction::dcnv2) {
    EXPECT_EQ(built.dense.cross_layers, published->dense.cross_layers);
    EXPECT_EQ(built.dense.cross_rank, published->dense.cross_rank);
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, PublishedModel,
                         testing::Values(std::pair{"dcnv2", "mlperf_dlrm_dcnv2"},
                                         std::pair{"t180", "hugectr_180table_70B_hotness80"},
                                         std::pair{"t200", "hugectr_200table_100B_hotness20"},
                                         std::pair{"t510", "hugectr_510table_110B_hotness5"},
                                         std::pair{"criteo-kaggle", "criteo_kaggle"},
                                         std::pair{"criteo-terabyte", "criteo_terabyte_40M"},
                                         std::pair{"rm1", "deeprecsys_dlrm_rm1"},
                                         std::pair{"rm2", "deeprecsys_dlrm_rm2"},
                                         std::pair{"rm3", "deeprecsys_dlrm_rm3"},
                                         std::pair{"merlin-tiny", "merlin_de_tiny"},
                                         std::pair{"merlin-small", "merlin_de_small"}),
                         [](const auto& one) {
                           std::string name = one.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace shardscope
