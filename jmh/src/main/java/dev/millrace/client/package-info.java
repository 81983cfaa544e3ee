/** Benchmarks that must stand beside the producer's own classes to reach them. */
package dev.millrace.client;
