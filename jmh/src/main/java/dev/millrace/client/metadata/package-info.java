/** Benchmarks and stress tests of the cluster image. They are in its package because it shows nothing of this to others. */
package dev.millrace.client.metadata;
