/** Integration tests with programs that use the producer: Kafka Streams, virtual threads of the newest JDK. */
package dev.millrace.client.it.frameworks;
