/**
 * Decides what a build prints about its tests.
 *
 * <p><b>In:</b> JUnit's events. JUnit finds the listener by {@code META-INF/services}. Nothing else of the test kit.
 *
 * <p><b>Out:</b> one line per test class, and log files beside the reports.
 */
package dev.millrace.testkit.console;
