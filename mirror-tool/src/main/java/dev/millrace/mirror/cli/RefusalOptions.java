package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.RefusalPolicies;
import dev.millrace.mirror.config.RefusalPolicy;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.text.MirrorException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The options about records that the target refuses. */
final class RefusalOptions {
    @Option(
            names = "--on-refused",
            paramLabel = "[REGEX=]POLICY",
            converter = RefusalPolicyParser.class,
            order = 14,
            description =
                    "What to do with a record that the target refuses, such as one that is too large or has no key"
                            + " for a compacted topic, or that cannot be read. stop: end the mirror. stop-partition: copy nothing"
                            + " more of its partition. dead-letter: write it to another topic on the target. skip: leave it out."
                            + " Each is logged and counted. With REGEX= for topics whose whole name matches; may be given several"
                            + " times, and the first that matches counts. Default: stop.")
    private List<ForTopics<RefusalPolicy>> onRefused = List.of();

    @Option(
            names = "--dead-letter-topic",
            paramLabel = "NAME",
            defaultValue = RefusalPolicies.TOPIC + ".dead-letter",
            order = 14,
            description = "The topic on the target for --on-refused dead-letter; " + RefusalPolicies.TOPIC
                    + " stands for the topic there that refuses the record. Default: ${DEFAULT-VALUE}.")
    private String deadLetterTopic;

    static final class RefusalPolicyParser implements ITypeConverter<ForTopics<RefusalPolicy>> {
        @Override
        public ForTopics<RefusalPolicy> convert(String text) {
            return ForTopics.parse(text, policy -> OptionValues.parse(RefusalPolicy.values(), policy));
        }
    }

    /**
     * Returns the policies that these options describe.
     *
     * @param resumeOrNull as {@code --resume} has it
     * @param producer its configuration
     * @throws MirrorException naming the option or the setting that is wrong
     */
    RefusalPolicies toPolicies(ResumeMode resumeOrNull, ProducerKind producerKind, Map<String, Object> producer) {
        RefusalPolicies policies = new RefusalPolicies(
                ForTopics.all("--on-refused", onRefused, RefusalPolicy.STOP, RefusalPolicy::toString), deadLetterTopic);
        if (!policies.isAlwaysStop()) {
            if (resumeOrNull == ResumeMode.EXACTLY_ONCE) {
                throw MirrorException.usage("--on-refused with --resume " + resumeOrNull
                        + ": a refused record aborts its transaction, and only " + RefusalPolicy.STOP
                        + " is possible; or choose another --resume");
            }
            requireNumbers(producerKind, producer);
        }
        return policies;
    }

    /** Without sequences, a target could accept records after a refused one, which would then come first. */
    private static void requireNumbers(ProducerKind producerKind, Map<String, Object> producer) {
        if (producerKind != ProducerKind.MILLRACE) {
            throw MirrorException.usage("--on-refused with --producer " + producerKind
                    + ": only millrace can go back to a record without writing the ones after it twice; with another"
                    + " producer only " + RefusalPolicy.STOP + " is possible");
        }
        if (!new ProducerConfig(producer).getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG)) {
            throw MirrorException.usage("--on-refused with " + ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG
                    + "=false: records after the refused one could be written twice; remove that line from the file of"
                    + " --producer.config, or leave only " + RefusalPolicy.STOP);
        }
    }
}
