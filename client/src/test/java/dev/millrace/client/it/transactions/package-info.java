/**
 * Integration tests of transactions, in both versions of the protocol.
 */
package dev.millrace.client.it.transactions;
