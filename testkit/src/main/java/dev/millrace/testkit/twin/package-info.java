/**
 * Programs that are wrong in one thing on purpose, to see whether a test notices.
 */
package dev.millrace.testkit.twin;
