/**
 * Where 32 threads on one producer spend their time: the load of {@code jmh/race} under async-profiler, and what becomes
 * of its stacks: a table and pictures. Run by {@code profiles/profile}.
 */
package dev.millrace.profile;
