/**
 * The test kit: real Kafka clusters, a stub broker, a fault proxy, and oracles that judge what arrived. It serves the
 * tests of all modules, the benchmarks and the mirror's demo; it is not published.
 *
 * <pre>{@code
 * DeliveryOracle oracle = new DeliveryOracle(run);
 * try (KafkaCluster cluster = KafkaCluster.builder().brokers(3).start()) {
 *     cluster.createTopic("t", 8, 3, Map.of("min.insync.replicas", "2"));
 *     // send stamp.encode(100) with cluster.clientConfig(); in the callback: oracle.onAcknowledged(stamp)
 *     cluster.kill(cluster.leader("t", 0));
 *     // flush the producer, then:
 *     Verdict verdict = oracle.judge(cluster.clientConfig(), List.of("t"));
 *     assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
 * }
 * }</pre>
 *
 * <p>{@code cluster} and {@code stub} run brokers in child JVMs of {@code process}; {@code cluster} puts {@code proxy}
 * in front of its brokers; {@code oracle} knows none of them. This package has what all of them need, and uses none of
 * them.
 */
package dev.millrace.testkit;
