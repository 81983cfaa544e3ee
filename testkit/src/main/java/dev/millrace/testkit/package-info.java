/** Real Kafka clusters in child JVMs, a stub broker, and the stamps and oracles that judge what arrived. */
package dev.millrace.testkit;
