package dev.millrace.weather;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Everything about one run that a seed chooses before it begins.
 *
 * @param areTopicsCreatedAgain whether somebody deletes topics of the source and creates them again
 * @param areCopiesDeleted whether somebody deletes copies from the target
 * @param treatment of the processes of the mirror
 * @param seconds for how long faults happen, in all
 * @param start where the mirror begins
 * @param loss of the source before the calm
 */
record Climate(
        long seed,
        Link link,
        ClusterKind source,
        ClusterKind target,
        MirrorKind mirror,
        List<TopicKind> topics,
        boolean areTopicsCreatedAgain,
        boolean areCopiesDeleted,
        Treatment treatment,
        int seconds,
        Start start,
        SourceLoss loss) {
    private static final double MEGA = 1e6;
    private static final int MAX_TOPICS = 3;
    private static final double MAX_LINK_SECONDS = 15;
    /** More would take longer to write and to compare than to mirror. */
    private static final double MAX_BYTES = 60 * MEGA;

    private static final List<SourceLoss> LOSSES = List.of(
            SourceLoss.NOTHING,
            SourceLoss.NOTHING,
            SourceLoss.LAST_WHILE_RUNNING,
            SourceLoss.LAST_WHILE_STOPPED,
            SourceLoss.FIRST_WHILE_PAUSED,
            SourceLoss.FIRST_WHILE_PAUSED,
            SourceLoss.FIRST_WHILE_STOPPED,
            SourceLoss.FIRST_WHILE_STOPPED);

    private static final List<Start> LATE_STARTS = List.of(Start.END, Start.TIME);

    private static final Duration SETTLING = Duration.ofSeconds(90);

    static Climate draw(long seed, MirrorKind.Wanted wanted) {
        Random random = random(seed, 0);
        Link link = Link.draw(random);
        ClusterKind source = ClusterKind.draw(random);
        ClusterKind target = ClusterKind.draw(random);
        MirrorKind mirror = MirrorKind.draw(random, wanted);
        int count = 1 + random.nextInt(MAX_TOPICS);
        double rate = slowest(link, source, target) * MEGA;
        long bytes = (long) (Math.min(MAX_BYTES, rate * MAX_LINK_SECONDS) * random.nextDouble() / count);
        List<TopicKind> topics = IntStream.range(0, count)
                .mapToObj(number -> TopicKind.draw(number, bytes, mirror, link, random))
                .toList();
        // A stranger could create a deleted copy again, and not with the settings that it needs.
        boolean areCopiesDeleted = random.nextInt(4) == 0 && topics.stream().noneMatch(TopicKind::hasStranger);
        // A writer would create it as the brokers do by themselves.
        boolean areTopicsCreatedAgain = random.nextInt(4) == 0 && !source.isAutoCreating();
        Treatment treatment = Chance.any(List.of(Treatment.values()), random);
        int seconds = 20 + random.nextInt(41);
        Start start = random.nextInt(4) == 0 ? Start.END_OF_EMPTY_TOPICS : Start.FIRST_RECORD;
        SourceLoss loss = Chance.any(LOSSES, random);
        boolean isLateStart = random.nextInt(3) == 0;
        Start late = Chance.any(LATE_STARTS, random);
        // What is copied again then begins with the first record, or with those that get offsets before the start.
        if (isLateStart && !areCopiesDeleted && !loss.isOfTheEnd()) {
            start = late;
        }
        return new Climate(
                seed,
                link,
                source,
                target,
                mirror,
                topics,
                areTopicsCreatedAgain,
                areCopiesDeleted,
                treatment,
                seconds,
                start,
                loss);
    }

    /** A source of chance of its own for this part of a run; {@link Random} alone begins alike with seeds that are near. */
    static Random random(long seed, int part) {
        return new Random(new SplittableRandom(31 * seed + part).nextLong());
    }

    /** Returns the MB/s of the link, or of a quota that is less. */
    private static double slowest(Link link, ClusterKind source, ClusterKind target) {
        return Stream.of(source, target)
                .filter(cluster -> cluster.quotaMegabytesPerSecond() > 0)
                .mapToDouble(ClusterKind::quotaMegabytesPerSecond)
                .reduce(link.megabytesPerSecond(), Math::min);
    }

    List<String> topicNames() {
        return topics.stream().map(TopicKind::name).toList();
    }

    /** The name of a topic on the target. */
    String copyOf(String topic) {
        return mirror.prefix() + topic;
    }

    /** How long one link or one quota alone would carry all records for. */
    Duration linkTime() {
        long bytes = topics.stream().mapToLong(TopicKind::bytes).sum();
        return Duration.ofMillis((long) (bytes / (slowest(link, source, target) * MEGA) * 1_000));
    }

    /** From the end of all faults until all that is there must be copied and committed. */
    Duration bound() {
        return SETTLING.plus(linkTime().multipliedBy(3));
    }

    /**
     * Whether the target may forget who wrote the records of which it has lost an answer, and the mirror can only end then, as
     * {@code docs/mirror-failures.md} says.
     */
    boolean isForgottenByTheTarget() {
        return mirror.isThroughConsumers() && topics.stream().anyMatch(TopicKind::isOld);
    }

    @Override
    public String toString() {
        return "seed " + seed + ": " + source + " -> " + target + "; " + link + "; " + mirror + "; "
                + topics.stream().map(TopicKind::toString).collect(Collectors.joining(" + "))
                + (areTopicsCreatedAgain ? "; topics are created again" : "")
                + (areCopiesDeleted ? "; copies are deleted" : "")
                + "; " + treatment.toString().toLowerCase(Locale.ROOT) + " treatment"
                + (start == Start.FIRST_RECORD ? "" : "; " + start.what())
                + (loss == SourceLoss.NOTHING ? "" : "; " + loss.what()) + "; " + seconds + " s of weather";
    }
}
