package dev.millrace.mirror.demo;

/**
 * CPU time per record, in nanoseconds.
 *
 * @param process of the whole process that mirrors
 * @param compiler of the JVM's compiler in it; NaN where the system does not tell
 * @param source of the source's brokers; NaN when not measured
 * @param target of the target's brokers; NaN when not measured
 */
record CpuPerRecord(double process, double compiler, double source, double target) {
    /** What the process itself can measure. */
    CpuPerRecord(double process, double compiler) {
        this(process, compiler, Double.NaN, Double.NaN);
    }

    CpuPerRecord with(BrokerCpu brokers) {
        return new CpuPerRecord(process, compiler, brokers.sourceNanosPerRecord(), brokers.targetNanosPerRecord());
    }
}
