/**
 * Integration tests of TLS, SASL and ACLs.
 */
package dev.millrace.client.it.security;
