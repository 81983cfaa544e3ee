/**
 * {@code profiles/profile}: runs the racers of {@link dev.millrace.race} under async-profiler, and makes a table and
 * pictures from the stacks that it records.
 */
package dev.millrace.profile;
