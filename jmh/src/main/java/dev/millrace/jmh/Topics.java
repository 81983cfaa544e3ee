package dev.millrace.jmh;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The topics, the same for all threads, as in a mirror. Nothing here is written during a measurement. */
@State(Scope.Benchmark)
public class Topics {
    @Param({"1", "1000"})
    int topics;

    List<String> names;

    @Setup
    public void name() {
        names = IntStream.range(0, topics).mapToObj(i -> "topic-" + i).toList();
    }

    /**
     * Goes through the topics in turn. Each thread starts at another, so that they do not use the same topic at the
     * same time.
     */
    @State(Scope.Thread)
    public static class Cursor {
        private static final AtomicInteger CURSORS = new AtomicInteger();
        private static final int START_STRIDE = 37;

        private String[] names;
        private int last;

        @Setup
        public void start(Topics topics) {
            names = topics.names.toArray(String[]::new);
            last = CURSORS.getAndIncrement() * START_STRIDE % names.length;
        }

        String next() {
            last = last + 1 < names.length ? last + 1 : 0;
            return names[last];
        }
    }
}
