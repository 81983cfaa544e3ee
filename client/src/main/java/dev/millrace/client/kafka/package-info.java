/**
 * The one package that names Kafka's internal classes: the network client, request and response classes, compression,
 * hashing. Its classes implement interfaces of the other packages, or wrap what those need. Enters: types of those
 * packages. Leaves: their types and Kafka's public API, never a class that Kafka may move between minor versions.
 *
 * <p><b>Internal, not API.</b>
 */
package dev.millrace.client.kafka;
