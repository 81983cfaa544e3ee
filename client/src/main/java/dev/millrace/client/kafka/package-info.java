/**
 * The one package that names Kafka's internal classes: the network client, request and response classes, compression,
 * hashing. Everything here serves an interface or a need of the other packages in their words.
 */
package dev.millrace.client.kafka;
