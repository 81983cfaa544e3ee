/** What others get: the packaged jar and its pom. These tests start no broker. */
package dev.millrace.client.it.published;
