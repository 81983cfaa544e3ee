package dev.millrace.client.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.Node;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class TopicCacheTest {
    private static final List<Node> NODES = List.of(new Node(1, "localhost", 1));

    @TempDir
    Path folder;

    private final Logger logger = (Logger) LoggerFactory.getLogger(TopicCache.class.getPackageName());
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        said.start();
        logger.addAppender(said);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(said);
    }

    @Test
    void shouldRememberTheTopicsOfTheLastRun() throws Exception {
        run("app", "c", "t", "u");

        RememberedTopics remembered = remembered("app");

        ClusterImage image = image("c", "u").current();
        assertThat(remembered.isAskable(image)).isTrue();
        assertThat(remembered.next(image)).as("what the image lacks").containsExactly("t");
        remembered.onAnswer();
        assertThat(remembered.isAskable(image)).isFalse();
        assertThat(warnings()).isEmpty();
    }

    @Test
    void shouldKeepAFileForEachClientIdAndBootstrapServers() throws Exception {
        run("app", "c", "t");
        run("other", "c", "u");

        assertThat(remembered("app").next(image("c").current())).containsExactly("t");
        assertThat(remembered("other").next(image("c").current())).containsExactly("u");
    }

    @Test
    void shouldUseNoTopicsOfAnotherCluster() throws Exception {
        run("app", "c", "t");
        RememberedTopics remembered = remembered("app");

        assertThat(remembered.next(image("d").current())).isEmpty();

        assertThat(remembered.isAskable(image("d").current())).isFalse();
        assertThat(warnings()).singleElement().asString().contains("cluster c", "cluster d");
    }

    @Test
    void shouldWaitUntilItIsKnownWhichClusterThisIs() throws Exception {
        run("app", "c", "t");

        assertThat(remembered("app").isAskable(bootstrap())).isFalse();
    }

    @Test
    void shouldWarnOnceAndGoOnWhenTheFileIsDamagedAndCannotBeReplaced() throws Exception {
        run("app", "c", "t");
        Path file = onlyFile();
        Files.delete(file);
        Files.createDirectories(file.resolve("in-the-way"));

        run("app", "c", "t");

        assertThat(warnings()).singleElement().asString().contains(file.toString(), "regular file");
    }

    @Test
    void shouldReplaceADamagedFile() throws Exception {
        run("app", "c", "t");
        Files.write(onlyFile(), new byte[] {1, 2, 3, 4, 5});

        run("app", "c", "u");

        assertThat(warnings()).singleElement().asString().contains("checksum");
        assertThat(remembered("app").next(image("c").current())).containsExactly("u");
    }

    @Test
    void shouldKeepTheFileWhenNothingWasLearnt() throws Exception {
        run("app", "c", "t", "u");
        byte[] before = Files.readAllBytes(onlyFile());

        TopicCache unanswered = cache("app", new ClusterImages(bootstrap()), () -> {});
        unanswered.start();
        unanswered.close();
        TopicCache unasked = cache("app", image("c", "v"), () -> {});
        unasked.start();
        unasked.close();

        assertThat(Files.readAllBytes(onlyFile())).isEqualTo(before);
    }

    @Test
    void shouldAskForAThousandAtATimeUntilTheyAreAnswered() throws Exception {
        String[] names = new String[RememberedTopics.PER_REQUEST + 1];
        for (int i = 0; i < names.length; i++) {
            names[i] = "topic-" + i;
        }
        run("app", "c", names);
        RememberedTopics remembered = remembered("app");
        ClusterImage image = image("c").current();

        List<String> first = remembered.next(image);
        assertThat(remembered.next(image)).as("not answered").isEqualTo(first);
        remembered.onAnswer();
        List<String> second = remembered.next(image);
        remembered.onAnswer();

        assertThat(first).hasSize(RememberedTopics.PER_REQUEST).doesNotContainAnyElementsOf(second);
        assertThat(second).hasSize(1);
        assertThat(remembered.isAskable(image)).isFalse();
    }

    /** A run of the program that learns of these topics, and finds no file that it can use. */
    private void run(String clientId, String clusterId, String... topics) throws Exception {
        TopicCache cache = cache(clientId, image(clusterId, topics), () -> {});
        cache.start();
        cache.close();
    }

    /** What a new run remembers, once its file is read. */
    private RememberedTopics remembered(String clientId) throws InterruptedException {
        CountDownLatch read = new CountDownLatch(1);
        TopicCache cache = cache(clientId, new ClusterImages(bootstrap()), read::countDown);
        cache.start();
        assertThat(read.await(30, TimeUnit.SECONDS)).isTrue();
        cache.close();
        return cache.remembered();
    }

    private TopicCache cache(String clientId, ClusterImages images, Runnable wakeUp) {
        return new TopicCache(folder, clientId, List.of("localhost:1"), images, wakeUp);
    }

    private static ClusterImages image(String clusterId, String... topics) {
        ClusterImages images = new ClusterImages(bootstrap());
        List<TopicImage> described =
                Stream.of(topics).map(name -> TestTopics.topic(name, 1, 0)).toList();
        images.applyDelta(new ClusterDelta(clusterId, NODES, described, Map.of(), false));
        return images;
    }

    private static ClusterImage bootstrap() {
        return ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1)));
    }

    private Path onlyFile() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList().get(0);
        }
    }

    private List<String> warnings() {
        return said.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
