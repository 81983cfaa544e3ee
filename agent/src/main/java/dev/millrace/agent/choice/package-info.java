/**
 * Internal: chooses between Millrace and the stock producer. Loaded beside each kafka-clients of the program, with
 * Millrace itself, so it may name both, and logs as the program does.
 */
package dev.millrace.agent.choice;
