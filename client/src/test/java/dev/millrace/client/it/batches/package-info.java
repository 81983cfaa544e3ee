/**
 * Integration tests of which partition and which batch a record goes to, and that it is read back as it was sent.
 */
package dev.millrace.client.it.batches;
