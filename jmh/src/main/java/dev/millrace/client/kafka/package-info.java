/** A broker link without a network, which needs the package-private classes of our bridge to Kafka. */
package dev.millrace.client.kafka;
