/**
 * What the commands {@code jmh/race}, {@code jmh/contention} and {@code profiles/profile} share: options, error
 * messages and tables. Nothing here knows what a command does.
 */
package dev.millrace.command;
