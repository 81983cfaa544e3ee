/**
 * Integration tests of what {@code send}, {@code flush}, {@code close}, callbacks, interceptors and settings do, on a
 * cluster without faults.
 */
package dev.millrace.client.it.semantics;
