/**
 * What many measurements say together: {@link dev.millrace.testkit.figures.RatioOfPairs} of two that took turns.
 *
 * <p><b>In:</b> numbers. Nothing else of the test kit.
 *
 * <p><b>Out:</b> medians, and how far to trust them.
 */
package dev.millrace.testkit.figures;
