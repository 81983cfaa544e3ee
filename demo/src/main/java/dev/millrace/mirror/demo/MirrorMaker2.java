package dev.millrace.mirror.demo;

import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.mirrormaker.MirrorMaker2Config;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * MirrorMaker 2 of Kafka 4.3: {@code org.apache.kafka.connect.mirror.MirrorMaker} with the jars of that release, which
 * runs its connectors in its own process.
 *
 * <p><b>Threads:</b> one.
 */
final class MirrorMaker2 implements MirrorMaker {
    private static final String MAIN = "org.apache.kafka.connect.mirror.MirrorMaker";
    /** The options of its start script, but the heap has its full size from the start. */
    private static final List<String> SHIPPED_OPTIONS = List.of(
            "-server",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=20",
            "-XX:InitiatingHeapOccupancyPercent=35",
            "-XX:+ExplicitGCInvokesConcurrent",
            "-Xms2g",
            "-Xmx2g",
            DemoProcess.PRE_TOUCH_HEAP);

    private final MavenJars jars = new MavenJars("mirrormaker2");

    @Override
    public Measurement.Figures run(Contender contender, Job job, RunListener listener) {
        List<String> args = List.of(
                Long.toString(job.load().records()),
                MAIN,
                jars.store("mm2.properties", config(job)).toString());
        List<String> options = new ArrayList<>(SHIPPED_OPTIONS);
        options.addAll(MavenJars.LOGGING);
        return DemoProcess.run(MirrorMaker.classPath(jars), options, MirrorMakerRun.class, args, listener);
    }

    /** Its own settings, except those that make it copy the one topic under its own name with the demo's codec. */
    private static Map<String, Object> config(Job job) {
        String source = job.group(); // It keeps its offsets under the source's name, so each run needs another one.
        String target = "target";
        Map<String, Object> config =
                MirrorMaker2Config.betweenSingleBrokers(source, job.source(), target, job.target(), Demo.TOPIC);
        config.putAll(MirrorMaker2Config.SAME_NAMES);
        config.put("tasks.max", job.threads());
        config.put(target + ".producer.compression.type", job.load().compression());
        config.put(source + ".consumer.interceptor.classes", MirrorMakerRun.PollInterceptor.class.getName());
        config.put(target + ".producer.interceptor.classes", MirrorMakerRun.AckInterceptor.class.getName());
        return config;
    }

    @Override
    public void close() {
        jars.close();
    }
}
