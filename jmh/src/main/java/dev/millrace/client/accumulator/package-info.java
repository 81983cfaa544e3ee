/**
 * Code that needs the accumulator's package-private classes: the control with one lock, benchmarks, and the stress
 * tests with their weakened twins, which {@code jmh/stress} runs.
 */
package dev.millrace.client.accumulator;
