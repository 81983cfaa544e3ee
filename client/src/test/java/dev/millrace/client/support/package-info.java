/**
 * What several tests use: both kinds of producer, a fixture with one broker, loads, waits and checks. It holds no test
 * and depends on no package of tests.
 */
package dev.millrace.client.support;
