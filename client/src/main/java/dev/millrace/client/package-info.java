/** The producer that applications construct: {@code MillraceProducer}. */
package dev.millrace.client;
