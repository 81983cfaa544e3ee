package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that give the source's topics their names on the target. */
final class TopicNameOptions {
    @Option(
            names = "--topic-prefix",
            paramLabel = "PREFIX",
            defaultValue = "",
            order = 3,
            description = "What the names of topics begin with on the target, before the name on the source, such as"
                    + " 'eu.'. Default: nothing, topics keep their names.")
    private String prefix;

    @Option(
            names = "--topic-name",
            paramLabel = "SOURCE=TARGET",
            converter = GivenNameParser.class,
            split = ",",
            order = 3,
            description = "What a single topic of the source is called on the target, instead of the name that"
                    + " --topic-prefix would give it. May be given several times, or several separated by commas.")
    private List<GivenName> given = List.of();

    /** A value of {@code --topic-name}. */
    record GivenName(String topic, String name) {}

    static final class GivenNameParser implements ITypeConverter<GivenName> {
        @Override
        public GivenName convert(String text) {
            int end = text.indexOf('=');
            if (end < 0) {
                throw new TypeConversionException(
                        "expected SOURCE=TARGET, such as orders=eu-orders, not '" + text + "'");
            }
            return new GivenName(
                    text.substring(0, end).strip(), text.substring(end + 1).strip());
        }
    }

    /**
     * Returns the names that these options describe.
     *
     * @throws MirrorException naming the option that is wrong
     */
    TopicNames toNames() {
        Map<String, String> names = new HashMap<>();
        given.forEach(next -> {
            String former = names.put(next.topic(), next.name());
            if (former != null && !former.equals(next.name())) {
                throw MirrorException.usage("--topic-name " + next.topic() + "=" + next.name() + ": " + next.topic()
                        + "=" + former + " is given, too; a topic has one name on the target");
            }
        });
        return TopicNames.of(prefix, names);
    }
}
