/**
 * Internal: changes {@code KafkaProducer} while it is being defined. Loaded once, apart from the program's classes. Uses ASM
 * and not Byte Buddy because the same branches take about as many lines with either, and 126 kB instead of 9 MB.
 */
package dev.millrace.agent.rewrite;
