package dev.millrace.weather;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Everything about one run that a seed chooses before it begins.
 *
 * @param megabytesPerSecond of the link to each broker of the far cluster, in each direction
 * @param isSourceFar whether the link is before the source, else before the target
 * @param isForgetful whether the target looks every second, not every ten minutes, which producers to forget
 * @param seconds for how long faults happen
 */
record Climate(
        long seed,
        double megabytesPerSecond,
        int roundTripMs,
        boolean isSourceFar,
        int sourceBrokers,
        int targetBrokers,
        boolean isForgetful,
        MirrorKind mirror,
        List<TopicKind> topics,
        int seconds) {
    private static final double MEGA = 1e6;
    private static final int MAX_TOPICS = 3;
    private static final double MAX_LINK_SECONDS = 15;
    /** More would take longer to write and to compare than to mirror. */
    private static final double MAX_BYTES = 60 * MEGA;

    private static final Duration SETTLING = Duration.ofSeconds(90);
    private static final int MAX_ROUND_TRIP_MS = 150;

    static Climate draw(long seed, MirrorKind.Wanted wanted) {
        Random random = random(seed, 0);
        double rate = TopicKind.logUniform(0.5, 100, random);
        int roundTripMs = random.nextInt(MAX_ROUND_TRIP_MS + 1);
        boolean isSourceFar = random.nextBoolean();
        int sourceBrokers = random.nextBoolean() ? 1 : 3;
        int targetBrokers = random.nextBoolean() ? 1 : 3;
        boolean isForgetful = random.nextBoolean();
        MirrorKind mirror = MirrorKind.draw(random, wanted);
        int count = 1 + random.nextInt(MAX_TOPICS);
        long bytes = (long) (Math.min(MAX_BYTES, rate * MEGA * MAX_LINK_SECONDS) * random.nextDouble() / count);
        List<TopicKind> topics = IntStream.range(0, count)
                .mapToObj(i -> TopicKind.draw("weather-" + i, bytes, random))
                .toList();
        int seconds = 20 + random.nextInt(41);
        return new Climate(
                seed,
                rate,
                roundTripMs,
                isSourceFar,
                sourceBrokers,
                targetBrokers,
                isForgetful,
                mirror,
                topics,
                seconds);
    }

    /** A source of chance of its own for this part of a run; {@link Random} alone begins alike with seeds that are near. */
    static Random random(long seed, int part) {
        return new Random(new SplittableRandom(31 * seed + part).nextLong());
    }

    /** How long one link alone would carry all records for. */
    Duration linkTime() {
        long bytes = topics.stream().mapToLong(TopicKind::bytes).sum();
        return Duration.ofMillis((long) (bytes / (megabytesPerSecond * MEGA) * 1_000));
    }

    /** From the end of the weather until all must be copied and committed. */
    Duration bound() {
        return SETTLING.plus(linkTime().multipliedBy(3));
    }

    long bytesPerSecond() {
        return (long) (megabytesPerSecond * MEGA);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "seed %d: %s broker(s) -> %s broker(s)%s; link %.1f MB/s, %d ms, before the %s; %s; %s; %d s of weather",
                seed,
                sourceBrokers,
                targetBrokers,
                isForgetful ? " that forget soon" : "",
                megabytesPerSecond,
                roundTripMs,
                isSourceFar ? "source" : "target",
                mirror,
                topics.stream().map(TopicKind::toString).collect(Collectors.joining(" + ")),
                seconds);
    }
}
