package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.ScriptedBrokers.Request;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Test;

/** Where a partition waits is in one place at a time, and none is forgotten. */
class PartitionPlacesTest {
    private static final int PARTITIONS = 6;
    private static final int STEPS = 4_000;
    private static final long LINGER_MS = 20;
    private static final int SMALL = 10;
    private static final int FILLS_A_BATCH = 100;

    @Test
    void shouldHaveEachPartitionInItsOnePlaceWhenLeadersMoveAndRefuseAtRandom() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ScriptedIo io = ScriptedIo.lingering(PARTITIONS, LINGER_MS);
        for (int step = 0; step < STEPS; step++) {
            act(io, random);
            io.runOnce();
            assertPlaces(io, "step " + step + " of seed " + seed);
        }
    }

    private static void act(ScriptedIo io, Random random) {
        List<Request> pending = io.brokers.pending();
        int partition = random.nextInt(PARTITIONS);
        switch (random.nextInt(12)) {
            case 0 -> {
                io.brokers.moveLeader(partition, 1 + random.nextInt(2));
                io.metadata.request();
            }
            case 1, 2 -> pending.stream().limit(1).forEach(r -> r.refuse(new NotEnoughReplicasException("later")));
            case 3 -> pending.stream().limit(1).forEach(r -> r.refuse(new RecordTooLargeException("split it")));
            case 4, 5, 6 -> pending.stream().limit(2).forEach(Request::accept);
            case 7 -> io.brokers.reachable = !io.brokers.reachable;
            case 8 -> io.accumulator.setShortForWaiting(random.nextBoolean());
            default -> io.send(partition, random.nextInt(3) > 0 ? SMALL : FILLS_A_BATCH);
        }
        io.brokers.nowMs += random.nextInt(5);
    }

    private static void assertPlaces(ScriptedIo io, String when) throws ReflectiveOperationException {
        Map<PartitionState, List<Place>> found = found(io);
        for (Object each : get(io.drainer, "partitions", List.class)) {
            PartitionState p = (PartitionState) each;
            if (p == null) {
                continue;
            }
            String what = p.queue().partition() + " in " + when;
            if (p.place == Place.NOWHERE) {
                assertThat(found).as(what).doesNotContainKey(p);
                assertThat(p.isIdle() || isInFlight(io, p))
                        .as("%s is idle, or an answer visits it", what)
                        .isTrue();
            } else {
                Place place = p.place == Place.TAKEN_ALONG ? Place.LANE : p.place;
                assertThat(found.get(p)).as(what).containsExactly(place);
            }
        }
    }

    private static boolean isInFlight(ScriptedIo io, PartitionState p) {
        return io.brokers.pending().stream()
                .flatMap(request -> request.batches.stream())
                .anyMatch(sent -> sent.partition() == p.partition());
    }

    private static Map<PartitionState, List<Place>> found(ScriptedIo io) throws ReflectiveOperationException {
        Map<PartitionState, List<Place>> found = new HashMap<>();
        PartitionPlaces places = get(io.drainer, "places", PartitionPlaces.class);
        for (Lane lane : places.lanes()) {
            lane.waiting.forEach(p -> add(found, p, Place.LANE));
            lane.lingering.pollIf(p -> add(found, p, Place.LINGERING));
        }
        get(places, "backingOff", Deadlines.class).pollIf(p -> add(found, p, Place.BACKING_OFF));
        return found;
    }

    /** False: it stays. */
    private static boolean add(Map<PartitionState, List<Place>> found, PartitionState p, Place place) {
        found.computeIfAbsent(p, any -> new ArrayList<>()).add(place);
        return false;
    }

    private static <T> T get(Object owner, String name, Class<T> type) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return type.cast(field.get(owner));
    }
}
