/**
 * Millrace in Spring: {@link dev.millrace.spring.MillraceAutoConfiguration} gives an application of Spring Boot
 * Millrace's producers, {@link dev.millrace.spring.MillraceProducerFactory} any other of Spring Kafka.
 *
 * <p><b>In:</b> the public API of Millrace's client, Spring Kafka and Spring Boot, of which an application has its own
 * versions: Spring Boot 3.5 or 4, without a class that only one of them has.
 *
 * <p><b>Out:</b> a producer factory. All else is Spring's.
 */
package dev.millrace.spring;
