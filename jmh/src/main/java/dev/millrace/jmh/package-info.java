/** JMH benchmarks of the send path under contention. */
package dev.millrace.jmh;
