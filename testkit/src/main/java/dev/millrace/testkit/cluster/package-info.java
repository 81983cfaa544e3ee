/**
 * Real Kafka clusters: {@link dev.millrace.testkit.cluster.KafkaCluster} builds, breaks and repairs one, {@link
 * dev.millrace.testkit.cluster.TopicContents} reads its topics.
 *
 * <p><b>In:</b> the JDK, Kafka's broker and its tools, and {@code process} and {@code proxy} of the test kit. Only
 * {@code BrokerMain}, which runs in the child JVM, names classes of the broker.
 *
 * <p><b>Out:</b> a cluster's addresses, client configurations, topics and faults. {@code stub} uses the certificates as
 * well.
 */
package dev.millrace.testkit.cluster;
