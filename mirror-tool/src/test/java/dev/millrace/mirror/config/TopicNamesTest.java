package dev.millrace.mirror.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.MatchingTopics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.Topic;

public class TopicNamesTest {
    private static final TopicNames EU = TopicNames.of("eu.", Map.of("audit", "trail", "odd", "eu.even"));

    /** Short ones of few letters, so that they often are the same, with and without a prefix. */
    @Provide
    static Arbitrary<String> topics() {
        return Arbitraries.strings()
                .withChars("ab._")
                .ofMinLength(1)
                .ofMaxLength(4)
                .filter(Topic::isValid);
    }

    @Provide
    static Arbitrary<String> prefixes() {
        return Arbitraries.of("", "a", "ab", "a.", "_", "_a", "millrace-");
    }

    @Provide
    static Arbitrary<Map<String, String>> given() {
        Arbitrary<String> names = topics().filter(name -> !InternalTopics.isInternal(name));
        return Arbitraries.maps(topics(), names).uniqueValues(name -> name).ofMaxSize(4);
    }

    @Example
    void shouldSeeWhichTopicsMayHaveComeRound() {
        assertThat(EU.mayHaveComeRoundFrom("us.asia.eu.orders")).containsExactly("orders");
        assertThat(EU.mayHaveComeRoundFrom("us_eu.a.eu.orders")).containsExactly("a.eu.orders", "orders");
        assertThat(EU.mayHaveComeRoundFrom("eu.orders")).containsExactly("orders");
        assertThat(EU.mayHaveComeRoundFrom("museu.orders"))
                .as("the prefix is part of a word")
                .isEmpty();
        assertThat(EU.mayHaveComeRoundFrom("orders")).isEmpty();
        assertThat(EU.mayHaveComeRoundFrom("us.eu.")).isEmpty();
        assertThat(TopicNames.of("eu.", Map.of("us.eu.orders", "mine")).mayHaveComeRoundFrom("us.eu.orders"))
                .as("somebody says that it is no copy")
                .isEmpty();
        assertThat(TopicNames.of("eu", Map.of()).mayHaveComeRoundFrom("us.euorders"))
                .isEmpty();
        assertThat(TopicNames.KEPT.mayHaveComeRoundFrom("us.eu.orders")).isEmpty();
    }

    @Property
    void shouldGiveEachTopicThatIsNotRefusedALegalNameOfItsOwnAndFindItBack(
            @ForAll("prefixes") String prefix,
            @ForAll("given") Map<String, String> given,
            @ForAll Set<@From("topics") String> all) {
        TopicNames names = TopicNames.of(prefix, given);
        List<String> mirrored =
                all.stream().filter(topic -> names.refusalOf(topic).isEmpty()).toList();

        assertThat(mirrored.stream().map(names::onTarget))
                .doesNotHaveDuplicates()
                .allMatch(Topic::isValid);
        assertThat(mirrored)
                .allSatisfy(topic ->
                        assertThat(names.onSource(names.onTarget(topic))).contains(topic));
        assertThat(mirrored).noneMatch(topic -> names.onTarget(topic).startsWith("__") && !topic.startsWith("__"));
    }

    @Property
    void shouldFindNoSourceOfANameThatNoTopicWouldHave(
            @ForAll("prefixes") String prefix,
            @ForAll("given") Map<String, String> given,
            @ForAll("topics") String name) {
        TopicNames names = TopicNames.of(prefix, given);

        names.onSource(name)
                .ifPresent(topic -> assertThat(names.onTarget(topic)).isEqualTo(name));
    }

    @Property
    void shouldMatchJustTheTopicsThatAreNotRefused(
            @ForAll("prefixes") String prefix,
            @ForAll("given") Map<String, String> given,
            @ForAll("topics") String topic) {
        TopicNames names = TopicNames.of(prefix, given);
        Predicate<String> isMatched =
                names.withoutRefused(Pattern.compile("a.*|.*b")).asMatchPredicate();

        boolean isWanted = topic.matches("a.*|.*b") && names.refusalOf(topic).isEmpty();

        assertThat(isMatched.test(topic)).isEqualTo(isWanted);
    }

    @Property
    void shouldGiveCopiesTheirNamesBackAndMatchNoOtherTopics(
            @ForAll("prefixes") String prefix,
            @ForAll("given") Map<String, String> given,
            @ForAll Set<@From("topics") String> all) {
        TopicNames names = TopicNames.of(prefix, given);
        Pattern topics = Pattern.compile("a.*|.*b");
        Predicate<String> isMirrored =
                names.withoutRefused(InternalTopics.excludedFrom(topics)).asMatchPredicate();
        TopicNames back = names.reversed();
        Predicate<String> isCopy = back.withoutRefused(InternalTopics.excludedFrom(names.ofCopies(topics)))
                .asMatchPredicate();

        assertThat(all.stream().filter(isMirrored)).allSatisfy(topic -> {
            assertThat(isCopy).accepts(names.onTarget(topic));
            assertThat(back.refusalOf(names.onTarget(topic))).isEmpty();
            assertThat(back.onTarget(names.onTarget(topic))).isEqualTo(topic);
            assertThat(back.onSource(topic)).contains(names.onTarget(topic));
        });
        assertThat(all.stream().filter(isCopy)).allSatisfy(name -> {
            assertThat(names.onSource(name)).get().matches(isMirrored);
            assertThat(names.onTarget(names.onSource(name).orElseThrow())).isEqualTo(name);
        });
    }

    @Example
    void shouldTranslateInBothDirections() {
        TopicPartition orders = new TopicPartition("orders", 3);
        TopicPartition copy = new TopicPartition("eu.orders", 3);
        TopicPartition foreign = new TopicPartition("us.orders", 3);

        assertThat(EU.onTarget(orders)).isEqualTo(copy);
        assertThat(EU.onTarget("audit")).isEqualTo("trail");
        assertThat(EU.onSource(Set.of(copy, foreign))).containsExactly(orders);
        assertThat(EU.onSource(Map.of(copy, 1L, foreign, 2L))).isEqualTo(Map.of(orders, 1L));
        assertThat(EU.onTarget(Map.of(orders, 1L))).isEqualTo(Map.of(copy, 1L));
        assertThat(EU.onSource("audit")).isEmpty();
        assertThat(EU.onSource("eu.audit")).as("audit has another name").isEmpty();
        assertThat(TopicNames.KEPT.onTarget(orders)).isSameAs(orders);
    }

    @Example
    void shouldRefuseWhatCouldBeMixedUpAndSayWhatWouldBeRight() {
        assertThat(EU.refusalOf("even"))
                .contains("Topic even would be eu.even on the target, which --topic-name gives to topic odd, and their"
                        + " records would be mixed; give it another name with --topic-name even=NAME, or leave it out"
                        + " with --exclude-topics");
        assertThat(EU.refusalOf("odd")).isEmpty();
        assertThat(TopicNames.of("", Map.of("a", "b")).refusalOf("b")).isPresent();
        assertThat(TopicNames.of("", Map.of("a", "b", "b", "a")).refusalOf("b"))
                .as("they change places")
                .isEmpty();
    }

    @Example
    void shouldRefuseNamesThatKafkaWouldRefuse() {
        assertThat(EU.refusalOf("x".repeat(246))).isEqualTo(Optional.empty());
        assertThat(EU.refusalOf("x".repeat(247)))
                .hasValueSatisfying(why -> assertThat(why).contains("249 characters"));
        assertThat("x".repeat(246)).matches(EU.withoutRefused(Pattern.compile(".*")));
        assertThat("x".repeat(247)).doesNotMatch(EU.withoutRefused(Pattern.compile(".*")));
    }

    @Example
    void shouldRefuseNamesOfInternalTopics() {
        assertThat(TopicNames.of("_", Map.of()).refusalOf("_x")).isPresent();
        assertThat(TopicNames.of("millrace-", Map.of()).refusalOf("offsets.g.internal"))
                .isPresent();
        assertThat(TopicNames.of("millrace-", Map.of()).refusalOf("orders")).isEmpty();
    }

    @Example
    void shouldTellMirroredTopicsFromRefusedOnes() {
        MirrorConfig config = config(".*", EU);

        MatchingTopics found = MatchingTopics.of(Set.of("orders", "audit", "even", "__internal"), config);

        assertThat(found.mirrored()).containsExactly("audit", "orders");
        assertThat(found.refused()).containsOnlyKeys("even");
        assertThat("even").doesNotMatch(config.mirroredTopics());
        assertThat("orders").matches(config.mirroredTopics());
    }

    public static MirrorConfig config(String topics, TopicNames names) {
        return new MirrorConfig(
                Pattern.compile(topics),
                names,
                1,
                CopyMode.AUTO,
                ProducerKind.MILLRACE,
                Map.of(),
                Map.of(),
                MirrorPolicies.DEFAULT);
    }
}
