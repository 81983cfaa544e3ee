package dev.millrace.race;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.stub.StubBroker;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** The brokers that the racers send to. They end with this JVM if not closed before. */
interface RaceBrokers extends AutoCloseable {
    String TOPIC = "race";

    /** The settings that a producer needs to connect. */
    Map<String, Object> clientConfig();

    /**
     * Makes sure that the topic exists. Call it before every run. The stub keeps nothing, so only a real broker empties
     * it.
     */
    void prepareTopic();

    @Override
    void close();

    /** Brokers that acknowledge but store nothing. */
    static RaceBrokers stub(int count, int partitions, boolean tls) {
        StubBroker.Builder builder = StubBroker.builder().brokers(count).topic(TOPIC, partitions);
        StubBroker stub = (tls ? builder.tls() : builder).start();
        return new RaceBrokers() {
            @Override
            public Map<String, Object> clientConfig() {
                return stub.clientConfig();
            }

            @Override
            public void prepareTopic() {}

            @Override
            public void close() {
                stub.close();
            }
        };
    }

    /** Kafka brokers. Before a run they delete the records of the last one, which may be gigabytes. */
    static RaceBrokers real(int count, int partitions, boolean tls) {
        Listener listener = tls ? Listener.SSL : Listener.PLAINTEXT;
        KafkaCluster cluster =
                KafkaCluster.builder().brokers(count).listeners(listener).start();
        return new RaceBrokers() {
            private boolean used;

            @Override
            public Map<String, Object> clientConfig() {
                return cluster.clientConfig(listener);
            }

            @Override
            public void prepareTopic() {
                if (used) {
                    delete();
                }
                used = true;
                // Not plainly: the stock producer may never recover in a topic that is not served yet (KAFKA-15591).
                cluster.createServedTopic(TOPIC, partitions, 1, Map.of());
            }

            private void delete() {
                try {
                    cluster.admin().deleteTopics(List.of(TOPIC)).all().get();
                } catch (ExecutionException e) {
                    throw new RaceException("cannot delete the topic: " + e.getCause());
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public void close() {
                cluster.close();
            }
        };
    }
}
