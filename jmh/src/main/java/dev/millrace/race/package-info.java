/**
 * The race of whole producers, {@code jmh/race}. {@link dev.millrace.race.RaceCommand} starts one
 * {@link dev.millrace.race.Racer} or {@link dev.millrace.race.NonJavaRacer} after the other, each in a process of its own, and tells
 * what they measured.
 */
package dev.millrace.race;
