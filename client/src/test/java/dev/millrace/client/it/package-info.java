/**
 * Integration tests with real brokers. Most run the same calls with the stock producer. They are grouped as the tables
 * of semantics, bugs and faults, and use the public API only.
 */
package dev.millrace.client.it;
