/**
 * The command {@code jmh/programs}: programs of Apache Kafka with the agent and without it.
 *
 * <p><b>In:</b> the agent's jar, released jars of Kafka, and clusters of the test kit.
 *
 * <p><b>Out:</b> a table of ratios.
 */
package dev.millrace.programs;
