#include "layout/names.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

template <class E>
void expect_round_trip() {
  for (std::size_t i = 0; i < Names<E>::values.size(); ++i) {
    const auto value = static_cast<E>(i);
    EXPECT_EQ(parse_name<E>(name_of(value)), value);
  }
  EXPECT_EQ(parse_name<E>(""), std::nullopt);
  EXPECT_EQ(parse_name<E>("no such name"), std::nullopt);
}

TEST(Names, EveryEnumeratorIsReadBackFromItsName) {
  expect_round_trip<DType>();
  expect_round_trip<KeyType>();
  expect_round_trip<OptimizerKind>();
  expect_round_trip<Pooling>();
  expect_round_trip<HotnessKind>();
  expect_round_trip<IdDistributionKind>();
  expect_round_trip<IdOrder>();
  expect_round_trip<Interaction>();
  expect_round_trip<Origin>();
  expect_round_trip<LinkClass>();
  expect_round_trip<ClusterType>();
  expect_round_trip<RowMapping>();
  expect_round_trip<Exchange>();
  expect_round_trip<Tier>();
  expect_round_trip<Stage>();
  expect_round_trip<Work>();
  expect_round_trip<ScheduleKind>();
  expect_round_trip<Executor>();
}

TEST(Names, FollowTheOrderOfTheEnumerators) {
  EXPECT_STREQ(to_string(DType::bf16), "bf16");
  EXPECT_STREQ(to_string(KeyType::i64), "i64");
  EXPECT_STREQ(to_string(OptimizerKind::other), "other");
  EXPECT_STREQ(to_string(Pooling::sequence), "sequence");
  EXPECT_STREQ(to_string(Interaction::dcnv2), "dcnv2");
  EXPECT_STREQ(to_string(Origin::prior), "prior");
  EXPECT_STREQ(to_string(LinkClass::inter), "inter");
  EXPECT_STREQ(to_string(ClusterType::UB), "UB");
  EXPECT_STREQ(to_string(RowMapping::block), "block");
  EXPECT_STREQ(to_string(Exchange::hierarchical), "hierarchical");
  EXPECT_STREQ(to_string(Tier::hash), "hash");
  EXPECT_STREQ(to_string(ScheduleKind::inter), "inter");
  EXPECT_STREQ(to_string(Executor::torchrec), "torchrec");
  EXPECT_STREQ(name_of(IdDistributionKind::recorded), "recorded");
  EXPECT_STREQ(name_of(IdOrder::popularity), "popularity");
  EXPECT_STREQ(name_of(HotnessKind::histogram), "histogram");
}

TEST(Names, ValuesOutsideTheEnumHaveNoName) {
  EXPECT_STREQ(name_of(static_cast<DType>(200)), "?");
}

TEST(Names, ChoicesAreListedForMessages) {
  EXPECT_EQ(choices_of<KeyType>(), "i32 | i64");
}

}  // namespace
}  // namespace shardscope
