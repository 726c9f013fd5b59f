#pragma once
// The commands of `shardscope`, one a file. Each prints its result on stdout (text, or JSON where
// asked) and returns what went wrong; the exit code follows from the error's kind.

#include "app/options.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

[[nodiscard]] Status models(const ModelsOptions& options);
[[nodiscard]] Status topologies(const TopologiesOptions& options);
[[nodiscard]] Status stats(const StatsOptions& options);
[[nodiscard]] Status stats_compression(const StatsOptions& options);
[[nodiscard]] Status check_layout(const CheckOptions& options);
[[nodiscard]] Status plan_command(const PlanOptions& options);
[[nodiscard]] Status predict_command(const PredictCommandOptions& options);
[[nodiscard]] Status explain_command(const ExplainOptions& options);
[[nodiscard]] Status sweep_command(const SweepOptions& options);
[[nodiscard]] Status diff_command(const DiffOptions& options);
[[nodiscard]] Status profile(const ProfileOptions& options);
[[nodiscard]] Status compare(const CompareOptions& options);
[[nodiscard]] Status train(const TrainOptions& options);
[[nodiscard]] Status inspect(const InspectOptions& options);
[[nodiscard]] Status import_command(const ImportOptions& options);
[[nodiscard]] Status export_command(const ExportOptions& options);
[[nodiscard]] Status calibrate_command(const CalibrateOptions& options);
[[nodiscard]] Status tune_bounds(const TuneBoundsOptions& options);
[[nodiscard]] Status codec(const CodecOptions& options);
[[nodiscard]] Status report_command(const ReportOptions& options);
[[nodiscard]] Status doctor(const DoctorOptions& options);

}  // namespace shardscope::app
