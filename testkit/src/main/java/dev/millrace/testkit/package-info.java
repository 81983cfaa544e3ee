/**
 * Real Kafka clusters in child JVMs, a stub broker, and the stamps and oracles that judge what arrived.
 *
 * <pre>{@code
 * DeliveryOracle oracle = new DeliveryOracle(run);
 * try (KafkaCluster cluster = KafkaCluster.builder().brokers(3).start()) {
 *     cluster.createTopic("t", 8, 3, Map.of("min.insync.replicas", "2"));
 *     // send stamp.encode(100) with cluster.clientConfig(); in the callback: oracle.acknowledged(stamp)
 *     cluster.kill(cluster.leader("t", 0));
 *     // flush the producer, then:
 *     Verdict verdict = oracle.judge(cluster.clientConfig(), List.of("t"));
 *     assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
 * }
 * }</pre>
 *
 * <p>To read on: {@link dev.millrace.testkit.cluster.KafkaCluster} and {@link dev.millrace.testkit.stub.StubBroker} run in a {@code
 * ChildJvm} each broker, whose {@code ChildFolder} sees to it that nothing is left behind; {@link
 * dev.millrace.testkit.oracle.DeliveryOracle} judges a producer, {@link dev.millrace.testkit.oracle.TopicDigest} a mirror.
 */
package dev.millrace.testkit;
