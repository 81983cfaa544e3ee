/**
 * {@code jmh/race}, which compares whole producers. {@link dev.millrace.race.RaceCommand} starts one
 * {@link dev.millrace.race.Racer} or {@link dev.millrace.race.NonJavaRacer} after the other, each in a process of its
 * own, and prints what they measured. Only {@link dev.millrace.profile} uses its racers and brokers.
 */
package dev.millrace.race;
