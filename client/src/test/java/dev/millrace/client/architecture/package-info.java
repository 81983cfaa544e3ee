/**
 * Holds the house rules: which package may use which, and what the send path must not do.
 */
package dev.millrace.client.architecture;
