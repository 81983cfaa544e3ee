/** Benchmarks of the producer's package-private classes. */
package dev.millrace.client;
