/**
 * Integration tests with programs that use the producer: Spring Kafka, Kafka Streams, virtual threads of the newest
 * JDK.
 */
package dev.millrace.client.it.frameworks;
