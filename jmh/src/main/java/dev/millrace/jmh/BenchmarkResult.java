package dev.millrace.jmh;

import java.util.Collection;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * The result of one benchmark at one number of threads.
 *
 * @param benchmark its class without the suffix, and its parameters
 * @param variant its method: ours or a counterpart
 * @param opsPerUs operations of all threads per microsecond
 * @param error half the 99.9 % confidence interval of {@code opsPerUs}; NaN if there were too few samples
 * @param cpuNs CPU time of the process per operation, nanoseconds; NaN if not measured
 * @param bytes allocated per operation; NaN if not measured
 */
record BenchmarkResult(
        String benchmark, String variant, int threads, double opsPerUs, double error, double cpuNs, double bytes) {
    static final String CPU = "cpu.norm";
    static final String ALLOCATED = "gc.alloc.rate.norm";

    private static final String SUFFIX = "Benchmark";

    static BenchmarkResult of(RunResult run) {
        BenchmarkParams params = run.getParams();
        Result<?> primary = run.getPrimaryResult();
        StringBuilder benchmark = new StringBuilder(simpleName(params.getBenchmark()));
        for (String key : params.getParamsKeys()) {
            benchmark.append(' ').append(key).append('=').append(params.getParam(key));
        }
        return new BenchmarkResult(
                benchmark.toString(),
                params.getBenchmark().substring(params.getBenchmark().lastIndexOf('.') + 1),
                params.getThreads(),
                primary.getScore(),
                primary.getScoreError(),
                secondary(run, CPU),
                secondary(run, ALLOCATED));
    }

    /** {@code Append} of {@code dev.millrace.jmh.AppendBenchmark.millrace}. */
    static String simpleName(String benchmark) {
        String type = benchmark.substring(0, benchmark.lastIndexOf('.'));
        String simple = type.substring(type.lastIndexOf('.') + 1);
        return simple.endsWith(SUFFIX) ? simple.substring(0, simple.length() - SUFFIX.length()) : simple;
    }

    @SuppressWarnings("rawtypes") // JMH's type
    private static double secondary(RunResult run, String name) {
        Map<String, Result> all = run.getSecondaryResults();
        Result<?> found = all.get(name);
        return found == null ? Double.NaN : found.getScore();
    }

    static Collection<BenchmarkResult> of(Collection<RunResult> runs) {
        return runs.stream().map(BenchmarkResult::of).toList();
    }
}
